import { resolve } from 'node:path'
import { backUpDatabase } from '../../db/sqlite/backup/backup.ts'
import { restoreDatabase } from '../../db/sqlite/backup/restore.ts'
import type { OnProgress } from '../../db/sqlite/backup/snapshot.ts'
import { UsageError } from './operator-error.ts'

/**
 * @param file the backup to make; by default a new name in `backups/` beside the database.
 * @returns the absolute path of the backup.
 */
export async function backUp(database: string, file?: string, onProgress?: OnProgress): Promise<string> {
  return backUpDatabase(database, file === undefined ? undefined : pathOf(file), onProgress)
}

/** @returns a sentence that says what was done. */
export async function restore(database: string, file: string, onProgress?: OnProgress): Promise<string> {
  const backup = pathOf(file)
  const kept = await restoreDatabase(database, backup, onProgress)
  return `Restored ${database} from ${backup}${kept ? `; the old database is now ${kept}` : ''}.`
}

/** An empty argument, as from a variable that is not set, would mean the working folder. */
function pathOf(argument: string): string {
  if (argument === '') throw new UsageError('The name of the backup is empty.')
  return resolve(argument)
}
