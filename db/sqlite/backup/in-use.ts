import { linkSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { isBusy, isCorrupt, toFailure } from '../failure.ts'
import { cannotLink, removeTemporary, temporaryPath } from '../files.ts'

/**
 * Whether a process has the database open; nothing is written to it, and it may be damaged in any way.
 *
 * In WAL mode a connection holds a shared lock on the file until it is closed. The only time that SQLite asks for the
 * exclusive lock before it reads a page, which may be none, is to roll back a journal that was left. So the file gets
 * another name for a moment, and beside that name a journal with nothing in it.
 */
export function isInUse(path: string): boolean {
  const probe = temporaryPath(dirname(path), 'probe')
  try {
    linkSync(path, probe)
    writeFileSync(`${probe}-journal`, 'x'.repeat(512), { mode: 0o600 })
    readSchema(probe)
    return false
  } catch (error) {
    const failure = toFailure(error)
    if (isBusy(failure)) return true
    if (isCorrupt(failure) || cannotLink(failure.code)) return false
    throw error
  } finally {
    removeTemporary(probe)
  }
}

function readSchema(path: string): void {
  const connection = new Database(path, { timeout: 0 })
  try {
    connection.prepare('SELECT 1 FROM sqlite_schema').get()
  } finally {
    connection.close()
  }
}
