import { attempt } from '../diagnosis/diagnosis.ts'
import { checkPages, connectToRead, using } from '../file/connection.ts'
import { refuseForeignFile } from '../file/header.ts'
import { verifyChecksum } from './checksum.ts'

/** Milliseconds. Only a program that has the backup open may lock it. */
const busyTimeout = 5_000

/**
 * Reads a backup as a restore does: its checksum, then its pages. The schema is not compared with that of this release.
 *
 * @returns whether the backup has a checksum, which it matches.
 * @throws {UnusableDatabase} if a restore would refuse the backup.
 */
export async function verifyBackup(file: string): Promise<boolean> {
  attempt(file, () => refuseForeignFile(file))
  const isVerified = await verifyChecksum(file)
  attempt(file, () => {
    using(connectToRead(file, busyTimeout), (connection) => checkPages(connection, 'integrity_check'))
  })
  return isVerified
}
