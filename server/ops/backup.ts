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

interface Restored {
  /** The absolute path of the backup. */
  backup: string
  /** The new path of the old database, if there was one. */
  kept: string | undefined
}

export async function restore(database: string, file: string, onProgress?: OnProgress): Promise<Restored> {
  const backup = pathOf(file)
  return { backup, kept: await restoreDatabase(database, backup, onProgress) }
}

/** An empty argument, as from a variable that is not set, would mean the working folder. */
function pathOf(argument: string): string {
  if (argument === '')
    throw new UsageError('The name of the backup is empty: give the path of the copy, or no name at all.')
  return resolve(argument)
}
