import { randomInt } from 'node:crypto'
import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs'
import type Database from 'better-sqlite3'
import { reasons, UnusableDatabase } from '../../unusable-database.ts'
import { identify, identityOf } from './files.ts'

/** Identifies the files of this service (`PRAGMA application_id`): "PETS" in ASCII. */
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
    const bytes = readFirstBytes(file)
    const isSqlite = startsAsSqlite(bytes)
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

function readFirstBytes(file: number): Buffer {
  const bytes = Buffer.alloc(100)
  return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, 0))
}

function startsAsSqlite(bytes: Buffer): boolean {
  return bytes.length === 100 && bytes.toString('latin1', 0, 16) === 'SQLite format 3\0'
}

/** Gives the database a random user version, which is in the header. A copy gets another one. */
export function giveIdentity(connection: Database.Database): void {
  connection.pragma(`user_version = ${randomInt(1, 2 ** 31)}`)
}

/**
 * Detects that another program has written a different database into the open file (`cp backup.db petstore.db`). SQLite
 * would mix the pages of both and look up API keys in the wrong one.
 *
 * It compares the user version, the change counter and the size, which only grow, with those of the last check. In WAL mode
 * only a checkpoint writes to the file, and it may write the old header again. So compare before each checkpoint.
 */
export class HeaderWatch {
  readonly descriptor: number
  readonly #database: string
  #header: Buffer
  #isOpen = true

  /** @param descriptor of the database file. */
  constructor(descriptor: number) {
    this.descriptor = descriptor
    this.#database = identityOf(fstatSync(descriptor, { bigint: true }))
    this.#header = readFirstBytes(descriptor)
  }

  /** Whether the path leads to the watched file. */
  isFor(path: string): boolean {
    return identify(path) === this.#database
  }

  isOverwritten(): boolean {
    // The second read is for a checkpoint that was writing the header during the first one.
    return !this.#accept() && !this.#accept()
  }

  /** Whether the file has no name any more, so that it is gone when the last process closes it. */
  isDeleted(): boolean {
    return fstatSync(this.descriptor).nlink === 0
  }

  /**
   * Closing any descriptor of a file drops all POSIX locks of the process on it, also those of SQLite. Call it only when
   * no connection to the file is open.
   */
  close(): void {
    if (this.#isOpen) closeSync(this.descriptor)
    this.#isOpen = false
  }

  #accept(): boolean {
    const header = readFirstBytes(this.descriptor)
    const isSame = startsAsSqlite(header) && isSuccessor(header, this.#header)
    if (isSame) this.#header = header
    return isSame
  }
}

/** Watches the file at this path. */
export function openHeader(path: string): HeaderWatch {
  return new HeaderWatch(openSync(path, 'r'))
}

function isSuccessor(header: Buffer, previous: Buffer): boolean {
  // The change counter wraps around. SQLite increments it once for each time that a connection reads the first page, so it
  // may be the same although the database has grown.
  const changes = (header.readUInt32BE(24) - previous.readUInt32BE(24)) | 0
  if (changes === 0 && header.readUInt32BE(28) < previous.readUInt32BE(28)) return false
  const [version, previousVersion] = [header.readUInt32BE(60), previous.readUInt32BE(60)]
  // The readiness check of the first release resets the user version to 0.
  return changes >= 0 && (version === previousVersion || version === 0 || previousVersion === 0)
}
