import { createHash } from 'node:crypto'
import { createReadStream, existsSync, fsyncSync, readFileSync, writeSync } from 'node:fs'
import { basename } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { UnusableDatabase } from '../../collection/errors.ts'
import type { SqliteRelease } from '../../database/loaded.ts'
import { checkPages, connectToRead, using } from './connection.ts'
import { orUnusable, unusable } from './diagnosis.ts'
import { makeFile } from './files.ts'
import { refuseForeignFile } from './header.ts'
import type { Ownership } from './ownership.ts'

/** The file with the SHA-256 of a backup. `sha256sum --check` verifies it without the service. */
export function checksumOf(backup: string): string {
  return `${backup}.sha256`
}

/** SHA-256 of the content, in hexadecimal. */
export async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path, { highWaterMark: 1024 * 1024 }), hash)
  return hash.digest('hex')
}

export function writeChecksum(path: string, ownership: Ownership, backup: string, sha256: string): void {
  const name = basename(backup)
  const escaped = name.replaceAll('\\', '\\\\')
  // sha256sum marks a line with an escaped name by a leading backslash.
  const line = `${escaped === name ? '' : '\\'}${sha256}  ${escaped}\n`
  makeFile(path, ownership, (file) => {
    writeSync(file, line)
    fsyncSync(file)
  })
}

/**
 * Compares a backup with its checksum, but not the name in it: both files may have been renamed. Returns false if there is
 * none: earlier releases wrote none. Throws UnusableDatabase if they differ, or one cannot be read.
 */
export async function verifyChecksum(backup: string): Promise<boolean> {
  const path = checksumOf(backup)
  if (!existsSync(path)) return false
  const text = orUnusable(backup, () => readFileSync(path, 'utf8'))
  const [, sha256] = /^\\?([0-9a-f]{64}) [ *]/i.exec(text) ?? []
  const actual = await hashFile(backup).catch((error: unknown) => {
    throw unusable(backup, error)
  })
  if (sha256?.toLowerCase() === actual) return true
  const remedy = 'restore another backup, or delete that checksum to restore this one anyway'
  const reason = `it does not match its checksum ${path}, so it has changed since it was made; ${remedy}`
  throw new UnusableDatabase(backup, reason)
}

/**
 * Reads a backup as a restore does: its checksum, then its pages. The schema is not compared with that of this release.
 *
 * @returns whether the backup has a checksum, which it matches.
 * @throws {UnusableDatabase} if a restore would refuse the backup.
 */
export async function verifyBackup(file: string, release: SqliteRelease): Promise<boolean> {
  orUnusable(file, () => refuseForeignFile(file, release))
  const isVerified = await verifyChecksum(file)
  orUnusable(file, () => {
    using(connectToRead(file), (connection) => checkPages(connection, 'integrity_check'))
  })
  return isVerified
}
