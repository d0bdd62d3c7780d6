import { closeSync, openSync, readSync, statSync } from 'node:fs'
import type Database from 'better-sqlite3'
import { reasons, UnusableDatabase } from '../unusable-database.ts'
import { applicationId } from './schema.ts'

interface Header {
  /** At most 100, fewer if the file is shorter. */
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
  const bytes = firstBytes(path, 100)
  const isSqlite = bytes.length === 100 && startsAsSqlite(bytes)
  return { bytes, isSqlite, isOurs: isSqlite && bytes.readUInt32BE(68) === applicationId }
}

export function startsAsSqlite(bytes: Buffer): boolean {
  return bytes.toString('latin1', 0, 16) === 'SQLite format 3\0'
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

function firstBytes(path: string, count: number): Buffer {
  const file = openSync(path, 'r')
  try {
    const bytes = Buffer.alloc(count)
    return bytes.subarray(0, readSync(file, bytes))
  } finally {
    closeSync(file)
  }
}

/**
 * Reads every page.
 *
 * @throws {UnusableDatabase} with the first finding of SQLite.
 */
export function checkPages(connection: Database.Database, check: 'quick_check' | 'integrity_check'): void {
  const finding = String(connection.pragma(`${check}(1)`, { simple: true })).replace(/^\*\*\* .*\n/, '')
  if (finding === 'ok') return
  const reason = isReadError(finding) ? reasons.unreadable : reasons.corrupt
  throw new UnusableDatabase(connection.name, `${reason} (${finding})`)
}

/** SQLite reports a page that it cannot read as corrupt. The low byte of the code is then SQLITE_IOERR. */
function isReadError(finding: string): boolean {
  const [, code] = /error code=(\d+)/.exec(finding) ?? []
  return (Number(code) & 0xff) === 10
}
