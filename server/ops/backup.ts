import type { ResourceList } from '../../db/resource-list.ts'
import { backUpDatabase } from '../../db/sqlite/backup/backup.ts'
import { checksumOf } from '../../db/sqlite/backup/checksum.ts'
import { restoreDatabase } from '../../db/sqlite/backup/restore.ts'
import type { OnProgress } from '../../db/sqlite/backup/snapshot.ts'

/**
 * @param file the backup to make; by default a new name in `backups/` beside the database.
 * @returns the absolute path of the backup.
 */
export async function backUp(
  resources: ResourceList,
  database: string,
  file?: string,
  onProgress?: OnProgress,
): Promise<string> {
  return backUpDatabase(database, resources.migrationsFor('sqlite'), file, onProgress)
}

interface Restored {
  /** The new path of the old database, if there was one. */
  kept: string | undefined
  /** For the operator. */
  warning: string | undefined
}

export async function restore(
  resources: ResourceList,
  database: string,
  backup: string,
  onProgress?: OnProgress,
): Promise<Restored> {
  const { kept, isVerified } = await restoreDatabase(database, resources.migrationsFor('sqlite'), backup, onProgress)
  const warning = `There is no checksum ${checksumOf(backup)}, so it is unknown whether the backup has changed since it was made.`
  return { kept, warning: isVerified ? undefined : warning }
}
