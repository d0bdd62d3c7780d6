import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { UnusableDatabase } from '../store.ts'
import { applicationId } from './schema.ts'

interface Header {
  /** At most a hundred. */
  bytes: Buffer
  isSqlite: boolean
  /** Whether the database is this service's. */
  isOurs: boolean
}

/**
 * Reads the first bytes of a file (https://sqlite.org/fileformat2.html, section 1.3) without SQLite, which might change a
 * file that is to be refused.
 *
 * @throws {UnusableDatabase} if it is no file.
 */
export function readHeader(path: string): Header {
  refuseNonFile(path)
  const bytes = firstBytes(path, 100)
  const isSqlite = bytes.length === 100 && startsAsSqlite(bytes)
  return { bytes, isSqlite, isOurs: isSqlite && bytes.readUInt32BE(68) === applicationId }
}

export function startsAsSqlite(bytes: Buffer): boolean {
  return bytes.toString('latin1', 0, 16) === 'SQLite format 3\0'
}

/** To open a named pipe would wait for its other end. */
export function refuseNonFile(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === false) {
    throw new UnusableDatabase('it is not a file; check the path')
  }
}

function firstBytes(path: string, count: number): Buffer {
  const file = openSync(path, 'r')
  try {
    const bytes = Buffer.alloc(count)
    return bytes.subarray(0, readSync(file, bytes))
  } finally {
    closeSync(file)
  }
}
