import { dirname } from 'node:path'
import type Database from 'better-sqlite3'
import { ownershipOf } from '../../ownership.ts'
import { realPathOf } from '../files.ts'
import { fileTimestamp, rescuedMark } from './name.ts'
import { publish } from './publish.ts'
import { withCopy } from './snapshot.ts'

/**
 * Copies a database whose files have lost their names, through a connection that still has them open. No other process
 * can change them.
 *
 * @returns the path of the copy, `petstore.db.rescued-<time>`. It is a backup.
 * @throws {UnusableDatabase}
 */
export async function rescueDatabase(connection: Database.Database, path: string): Promise<string> {
  const realPath = realPathOf(path)
  const target = `${realPath}${rescuedMark}${fileTimestamp()}`
  await withCopy(
    connection,
    { source: path, target, folder: dirname(realPath), ownership: ownershipOf(realPath) },
    (copy) => {
      if (!publish(copy, target)) throw new Error(`${target} already exists.`)
    },
  )
  return target
}
