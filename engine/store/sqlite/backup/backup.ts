import { createHash } from 'node:crypto'
import { createReadStream, existsSync, renameSync } from 'node:fs'
import { dirname } from 'node:path'
import { UnusableDatabase } from '../../collection/errors.ts'
import type { SqliteRelease } from '../../database/loaded.ts'
import { checksumOf, hashFile, writeChecksum } from '../file/checksum.ts'
import { orUnusable } from '../file/diagnosis.ts'
import { makeFolder } from '../file/files.ts'
import { refuseForeignFile } from '../file/header.ts'
import { ownershipOf } from '../file/ownership.ts'
import { publish } from '../file/temporary-file.ts'
import { backupFolder, listBackups, newBackupPath, recordBackup } from './inventory.ts'
import { type OnProgress, withSnapshot } from './snapshot.ts'

/**
 * Backs up a database, which may be in use, into a new file with its owner and mode, and writes the checksum beside it. The
 * backup holds every earlier commit.
 *
 * @param file is never overwritten, and its folder must exist. The default is a new name in `backups/` beside the database.
 * @returns the path of the backup.
 * @throws {UnusableDatabase}
 */
export async function backUpDatabase(
  database: string,
  release: SqliteRelease,
  file?: string,
  onProgress?: OnProgress,
): Promise<string> {
  const source = sourceOf(database, release)
  const { ownership } = source
  if (file === undefined) createBackupFolder(database)
  else if (existsSync(file)) throw exists(file)
  else if (!existsSync(dirname(file))) throw new UnusableDatabase(file, 'its folder does not exist; create it first')
  const path = file ?? newBackupPath(database, '.db')
  await withSnapshot({ ...source, target: path, folder: dirname(path), onProgress }, hashFile, (copy, sha256) => {
    const checksum = checksumOf(copy)
    writeChecksum(checksum, ownership, path, sha256)
    if (!publish(copy, path)) throw exists(path)
    // Second, because a rename overwrites, and only a backup may replace the checksum that has its name.
    renameSync(checksum, checksumOf(path))
  })
  const listed = await listBackups(database).catch(() => [])
  if (!listed.some((backup) => backup.path === path)) recordBackup(database, ownership)
  return path
}

/**
 * As {@link backUpDatabase}, to a stream. Until all of it is written, the copy is a temporary file in `backups/` beside the
 * database. `write` resolves when the next bytes may be written. Throws UnusableDatabase.
 */
export async function streamBackup(
  database: string,
  release: SqliteRelease,
  write: (bytes: Uint8Array) => Promise<unknown>,
  onProgress?: OnProgress,
): Promise<{ bytes: number; sha256: string }> {
  const source = sourceOf(database, release)
  createBackupFolder(database)
  const hash = createHash('sha256')
  let bytes = 0
  const request = { ...source, target: database, folder: backupFolder(database), onProgress }
  await withSnapshot(request, async (copy) => {
    for await (const chunk of createReadStream(copy, { highWaterMark: 1024 * 1024 })) {
      hash.update(chunk)
      bytes += chunk.length
      await write(chunk)
    }
  })
  recordBackup(database, source.ownership)
  return { bytes, sha256: hash.digest('hex') }
}

/** Refuses a database of another program. */
function sourceOf(database: string, release: SqliteRelease) {
  orUnusable(database, () => refuseForeignFile(database, release))
  return { ...release, source: database, ownership: ownershipOf(database) }
}

/** @throws {UnusableDatabase} */
export function createBackupFolder(database: string): void {
  const folder = backupFolder(database)
  orUnusable(folder, () => makeFolder(folder, ownershipOf(database)))
}

function exists(file: string): UnusableDatabase {
  return new UnusableDatabase(file, 'it already exists; choose another name, or delete it first')
}
