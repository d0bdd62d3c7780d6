import { statSync } from 'node:fs'
import type Database from 'better-sqlite3'
import { connect, orClose } from './connection.ts'
import { type Failure, isCorrupt, toFailure } from './failure.ts'
import { identify, identityOf } from './files.ts'
import { prepareLogState } from './log-watch.ts'
import { patiently } from './patience.ts'
import { realPathOf } from './real-path.ts'
import { applicationId } from './schema.ts'

interface OpenOptions {
  readonly: boolean
}

/** Milliseconds to wait for readers that keep a lost log from being saved. */
const saveTimeout = 1_000

/**
 * A connection to a prepared database that can tell whether its files are still at their paths. SQLite goes on writing
 * to a file that was deleted, replaced or truncated, and would acknowledge writes that the next start does not find.
 *
 * The connection keeps its files open, so their inode numbers are not used again and identify them.
 */
export class OpenFile {
  readonly connection: Database.Database
  readonly #path: string
  readonly #options: OpenOptions
  readonly #realPath: string
  readonly #database: string
  readonly #log: string | undefined
  /** The index of the log (`-shm`), by which processes share its locks. */
  readonly #index: string | undefined
  /** Bytes at the last check. If the log is shorter now, its size is compared with SQLite's index of it. */
  #logSize: bigint | undefined

  constructor(path: string, options: OpenOptions) {
    this.#path = path
    this.#options = options
    // Before the file is opened, so that a replacement in between is noticed.
    this.#realPath = realPathOf(path)
    const database = identify(path)
    if (database === undefined) throw new MovedDatabase('The database, or its folder, is missing.')
    this.#database = database
    const log = identify(this.#logPath)
    this.connection = connect(path, { ...options, busyTimeout: 0 })
    const [openLog, index] = orClose(this.connection, () => {
      this.#checkOwner()
      // The first read of the connection has created the log and its index if there were none.
      return [log ?? identify(this.#logPath), identify(this.#indexPath)]
    })
    this.#log = openLog
    this.#index = index
  }

  get #logPath(): string {
    return `${this.#realPath}-wal`
  }

  get #indexPath(): string {
    return `${this.#realPath}-shm`
  }

  #checkOwner(): void {
    if (this.connection.pragma('application_id', { simple: true }) !== BigInt(applicationId)) {
      throw new MovedDatabase('The file at the path of the database is another one, and not of this service.')
    }
  }

  /**
   * Call it outside a transaction.
   *
   * @throws {MovedDatabase} if a commit on this connection cannot be found at the path of the database.
   * @throws {StaleFiles}
   */
  checkPlace(): void {
    if (identify(this.#path) !== this.#database) throw new MovedDatabase('The database was moved, deleted or replaced.')
    if (realPathOf(this.#path) !== this.#realPath) {
      if (!this.#options.readonly) this.#saveLog()
      throw new StaleFiles('The database was renamed, and SQLite looks for its log under the new name.')
    }
    if (identify(this.#indexPath) !== this.#index) {
      throw new StaleFiles(
        'The index of the write-ahead log (-shm) was deleted, so other processes do not see its locks.',
      )
    }
    const log = statSync(this.#logPath, { bigint: true, throwIfNoEntry: false })
    if (this.#isLost(log && identityOf(log))) {
      if (!this.#options.readonly) this.#saveLog()
      throw new MovedDatabase('The write-ahead log of the database was moved, deleted or replaced.')
    }
    if (log !== undefined && (this.#logSize === undefined || log.size < this.#logSize)) this.#refuseTruncatedLog()
    this.#logSize = log?.size
  }

  /**
   * Call it within a transaction, which may have waited for its lock since the last check.
   *
   * @throws {FilesChanged} if {@link checkPlace} has to look.
   */
  refuseChange(): void {
    const log = statSync(this.#logPath, { bigint: true, throwIfNoEntry: false })
    const isUnchanged =
      // A database that a person put in place may have no log, which is slower and as durable.
      (log === undefined || (this.#logSize !== undefined && log.size >= this.#logSize)) &&
      !this.#isLost(log && identityOf(log)) &&
      identify(this.#path) === this.#database &&
      identify(this.#indexPath) === this.#index &&
      realPathOf(this.#path) === this.#realPath
    if (!isUnchanged) throw new FilesChanged('The files of the database have changed.')
  }

  #isLost(log: string | undefined): boolean {
    return this.#log !== undefined && log !== this.#log
  }

  /** Moves the lost log into the database: its commits are gone when its last connection closes. */
  #saveLog(): void {
    patiently(saveTimeout, () => {
      const isBusy = this.connection.prepare<[], bigint>('PRAGMA wal_checkpoint(TRUNCATE)').pluck().get()
      if (isBusy) throw new LogInUse('The write-ahead log of the database was lost and cannot be saved yet.')
    })
  }

  #refuseTruncatedLog(): void {
    const frames = prepareLogState(this.connection).get()?.log ?? 0
    if (frames <= 0) return
    const pageSize = Number(this.connection.pragma('page_size', { simple: true }))
    // A header of 32 bytes, then 24 bytes and a page for each frame (https://sqlite.org/fileformat2.html, section 4.1).
    const length = 32 + frames * (24 + pageSize)
    const size = statSync(this.#logPath, { throwIfNoEntry: false })?.size
    if (size !== undefined && size < length) {
      throw new StaleFiles(
        `Another program truncated the write-ahead log of the database to ${size} of ${length} bytes. Commits that were only there are lost; restore a backup if they matter.`,
      )
    }
  }

  /** Opens the file that is at the path now. This one stays open until the caller closes it. */
  reopen(): OpenFile {
    const isReplaced = identify(this.#path) !== this.#database
    const log = identify(`${realPathOf(this.#path)}-wal`)
    if (isReplaced && log !== undefined && log === this.#log) {
      // SQLite would replay the old file's log into the new file, and ruin it.
      throw new MovedDatabase(
        'The database was replaced beside the write-ahead log of the old one: stop the service and use "npm run petstore -- restore".',
      )
    }
    if (!isReplaced && this.#isLost(log) && !this.#options.readonly) this.#saveLog()
    return new OpenFile(this.#path, this.#options)
  }

  /**
   * SQLite reports a page that the disk cannot read as corrupt, except while it opens a database. A second connection
   * shows whether the disk is the cause, unless the disk can read the first pages.
   */
  explain(failure: Failure): Failure {
    if (!isCorrupt(failure)) return failure
    try {
      new OpenFile(this.#path, this.#options).close()
      return { ...failure, message: `${failure.message}, or the disk cannot read one of its pages` }
    } catch (error) {
      return toFailure(error)
    }
  }

  get isOpen(): boolean {
    return this.connection.open
  }

  close(): void {
    this.connection.close()
  }
}

class MovedDatabase extends Error {
  override name = 'MovedDatabase'
  /** SQLite's own name of this state, which it only notices without a write-ahead log. */
  readonly code = 'SQLITE_READONLY_DBMOVED'
}

class LogInUse extends Error {
  override name = 'LogInUse'
  readonly code = 'SQLITE_BUSY'
}

export class FilesChanged extends Error {
  override name = 'FilesChanged'
  readonly code = 'SQLITE_READONLY_DBMOVED'
}

/**
 * The log or its index is no longer the one that SQLite uses in this process, where all connections share one index. Each
 * of them must be closed before one is opened again.
 */
export class StaleFiles extends Error {
  override name = 'StaleFiles'
  /** SQLite's own code when it reads a part of the log that is missing. */
  readonly code = 'SQLITE_IOERR_SHORT_READ'
}
