import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { ownershipOf } from '../../ownership.ts'
import { UnusableDatabase } from '../../unusable-database.ts'
import { makeFolder } from '../files.ts'
import { refuseForeignFile } from '../header.ts'
import { backupFolder, newBackupPath } from './name.ts'
import { publish } from './publish.ts'
import { attempt, type OnProgress, withSnapshot } from './snapshot.ts'

/**
 * Backs up a database, which may be in use, into a new file with the owner and the mode of the
 * database. The backup holds every earlier commit.
 *
 * @param file is never overwritten, and its folder must exist. The default is a new name in `backups/` beside the
 *   database.
 * @returns the path of the backup.
 * @throws {UnusableDatabase}
 */
export async function backUpDatabase(database: string, file?: string, onProgress?: OnProgress): Promise<string> {
  attempt(database, () => refuseForeignFile(database))
  if (file === undefined) createBackupFolder(database)
  else refuseTarget(file)
  let path = file ?? newBackupPath(database, '.db')
  const request = {
    source: database,
    isSourceReadonly: false,
    target: path,
    folder: dirname(path),
    ownership: ownershipOf(database),
    onProgress,
  }
  await withSnapshot(request, (copy) => {
    while (!publish(copy, path)) {
      if (file !== undefined) throw exists(file)
      // Another process began a backup in the same millisecond.
      path = newBackupPath(database, '.db')
    }
  })
  return path
}

/** @throws {UnusableDatabase} */
export function createBackupFolder(database: string): void {
  const folder = backupFolder(database)
  attempt(folder, () => makeFolder(folder, ownershipOf(database)))
}

function refuseTarget(file: string): void {
  if (existsSync(file)) throw exists(file)
  if (!existsSync(dirname(file))) throw new UnusableDatabase(file, 'its folder does not exist; create it first')
}

function exists(file: string): UnusableDatabase {
  return new UnusableDatabase(file, 'it already exists; choose another name, or delete it first')
}
