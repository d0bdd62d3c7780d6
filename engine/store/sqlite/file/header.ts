import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { reasons, UnusableDatabase } from '../../errors.ts'

/** Identifies the files of a store (`PRAGMA application_id`). It is "PETS" in ASCII, because existing files have this id. */
export const applicationId = 0x50455453

interface Header {
  /** 100 bytes, or fewer if the file is shorter. */
  bytes: Buffer
  isSqlite: boolean
  /** Whether the database is this service's. */
  isOurs: boolean
}

/**
 * Reads the header of the file (https://sqlite.org/fileformat2.html, section 1.3) without SQLite, because opening a
 * database can change it.
 *
 * @throws {UnusableDatabase} if the path leads to a folder, a named pipe or a device.
 */
export function readHeader(path: string): Header {
  refuseNonFile(path)
  const file = openSync(path, 'r')
  try {
    const buffer = Buffer.alloc(100)
    const bytes = buffer.subarray(0, readSync(file, buffer, 0, buffer.length, 0))
    const isSqlite = bytes.length === 100 && bytes.toString('latin1', 0, 16) === 'SQLite format 3\0'
    return { bytes, isSqlite, isOurs: isSqlite && bytes.readUInt32BE(68) === applicationId }
  } finally {
    closeSync(file)
  }
}

/** @throws {UnusableDatabase} if the file is not a database of this service. */
export function refuseForeignFile(path: string): void {
  const { isSqlite, isOurs } = readHeader(path)
  if (!isOurs) throw new UnusableDatabase(path, isSqlite ? reasons.foreign : reasons.notSqlite)
}

/** Opening a named pipe would block until another process opens its other end. */
export function refuseNonFile(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === false) throw new UnusableDatabase(path, reasons.notFile)
}
