import type { Writable } from 'node:stream'
import type { ResourceList } from '../../../db/resource-list.ts'
import { backUpDatabase, streamBackup } from '../../../db/sqlite/backup/backup.ts'
import { checksumOf } from '../../../db/sqlite/backup/checksum.ts'
import { restoreDatabase } from '../../../db/sqlite/backup/restore.ts'
import type { OnProgress } from '../../../db/sqlite/backup/snapshot.ts'
import { verifyBackup } from '../../../db/sqlite/backup/verify.ts'
import { UnusableDatabase } from '../../../db/unusable-database.ts'
import { type DatabaseStatus, readStatus } from '../database.ts'
import { writeStream } from '../transfer/output.ts'

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

/** Writes a backup to a stream, such as standard output. */
export async function backUpTo(
  resources: ResourceList,
  stream: Writable,
  database: string,
  onProgress?: OnProgress,
): Promise<{ bytes: number; sha256: string }> {
  return writeStream(stream, (write) => streamBackup(database, resources.migrationsFor('sqlite'), write, onProgress))
}

/** Whether a backup matches its checksum. Releases before 1.1.0 wrote none. */
export type ChecksumState = 'matches' | 'missing'

export interface VerifiedBackup extends DatabaseStatus {
  checksum: ChecksumState
}

/**
 * Checks that this release can restore a backup, which is only read.
 *
 * @throws {UnusableDatabase} if it cannot.
 */
export async function verify(resources: ResourceList, file: string): Promise<VerifiedBackup> {
  const isVerified = await verifyBackup(file)
  const status = await readStatus(resources, { kind: 'sqlite', path: file })
  if (status.problem !== null) throw new UnusableDatabase(file, status.problem)
  return { ...status, checksum: checksumState(isVerified) }
}

interface Restored {
  /** The new path of the old database, if there was one. */
  kept: string | undefined
  checksum: ChecksumState
}

export async function restore(
  resources: ResourceList,
  database: string,
  backup: string,
  onProgress?: OnProgress,
): Promise<Restored> {
  const { kept, isVerified } = await restoreDatabase(database, resources.migrationsFor('sqlite'), backup, onProgress)
  return { kept, checksum: checksumState(isVerified) }
}

function checksumState(isVerified: boolean): ChecksumState {
  return isVerified ? 'matches' : 'missing'
}

export function warningOf(backup: string): string {
  return `There is no checksum ${checksumOf(backup)}, so it is unknown whether the backup has changed since it was made.`
}
