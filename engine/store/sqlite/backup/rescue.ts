import { dirname } from 'node:path'
import type Database from 'better-sqlite3'
import { ownershipOf } from '../../files/ownership.ts'
import { fileTimestamp, makeFolder, realPathOf } from '../file/files.ts'
import { rescuedMark } from './inventory.ts'
import { withCopy } from './snapshot.ts'
import { publish } from './temporary-file.ts'

/**
 * Copies a database whose files have lost their names, through a connection that still has them open. No other process
 * can change them. The copy is not checked: it is the only one, and a restore checks it.
 *
 * @returns the path of the copy, `shop.db.rescued-<time>`.
 * @throws {UnusableDatabase}
 */
export async function rescueDatabase(connection: Database.Database, path: string): Promise<string> {
  const realPath = realPathOf(path)
  const rescued = `${realPath}${rescuedMark}${fileTimestamp()}`
  const [folder, ownership] = [dirname(realPath), ownershipOf(realPath)]
  // It may have been deleted, too.
  makeFolder(folder, ownership)
  const unchecked = async () => {}
  await withCopy(connection, { target: path, folder, ownership }, unchecked, (copy) => {
    if (!publish(copy, rescued)) throw new Error(`${rescued} already exists.`)
  })
  return rescued
}
