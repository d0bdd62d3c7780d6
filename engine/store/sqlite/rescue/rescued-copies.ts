import { readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { LostDatabase } from '../../collection/errors.ts'
import { fileTimestamp, realPathOf } from '../file/files.ts'

/** Between the name of a database and the time, in the name of a rescued copy. */
const mark = '.rescued-'

export function newRescuedPath(path: string): string {
  return `${realPathOf(path)}${mark}${fileTimestamp()}`
}

/** The copies that processes have rescued of this database, the newest first. None if this user may not list the folder. */
function listRescuedCopies(path: string): string[] {
  try {
    const realPath = realPathOf(path)
    const [folder, start] = [dirname(realPath), basename(realPath) + mark]
    const names = readdirSync(folder).filter((name) => name.startsWith(start) && !/-(wal|shm|journal)$/.test(name))
    const newest = names.toSorted().toReversed()
    return newest.map((name) => join(folder, name))
  } catch {
    return []
  }
}

/** Says which copies are beside a database: it may lack what they have. Undefined if there are none. */
export function describeRescuedCopies(path: string, program: string): string | undefined {
  const copies = listRescuedCopies(path)
  if (copies.length === 0) return undefined
  return `When files of the database were lost, a process saved what it had: ${copies.join(', ')}. Restore a copy with "${program} restore", or move it to another folder.`
}

/** Refuses a missing or empty database beside rescued copies, whose ids and idempotency keys it would not know. */
export function refuseRescuedCopies(path: string, program: string): void {
  const copies = listRescuedCopies(path)
  if (copies.length === 0) return
  const saved = `when its files were lost, a process saved what it had: ${copies.join(', ')}`
  const restore = `restore the newest with "${program} restore ${copies[0]}"`
  const remedy = `${restore}, or, for a new store, move the copies to another folder`
  throw new LostDatabase(path, `it is missing or empty, but ${saved}; ${remedy}`)
}
