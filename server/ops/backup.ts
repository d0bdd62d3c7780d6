import { backUpDatabase } from '../../db/sqlite/backup/backup.ts'
import { restoreDatabase } from '../../db/sqlite/backup/restore.ts'
import type { OnProgress } from '../../db/sqlite/backup/snapshot.ts'

/**
 * @param file the backup to make; by default a new name in `backups/` beside the database.
 * @returns the absolute path of the backup.
 */
export async function backUp(database: string, file?: string, onProgress?: OnProgress): Promise<string> {
  return backUpDatabase(database, file, onProgress)
}

interface Restored {
  /** The absolute path of the backup. */
  backup: string
  /** The new path of the old database, if there was one. */
  kept: string | undefined
}

export async function restore(database: string, file: string, onProgress?: OnProgress): Promise<Restored> {
  return { backup: file, kept: await restoreDatabase(database, file, onProgress) }
}
