import { statSync } from 'node:fs'
import type Database from 'better-sqlite3'
import { connect, orClose, retryWhileBusy } from './connection.ts'
import { identify, identityOf, realPathOf } from './files.ts'
import { prepareLogState } from './log-watch.ts'
import { applicationId } from './schema.ts'

interface OpenOptions<T> {
  readonly: boolean
  /** Prepares the statements for each connection that is opened. */
  prepare: (connection: Database.Database) => T
}

/** Milliseconds to wait for readers that prevent the checkpoint of a lost log. */
const checkpointTimeout = 1_000

/** How the files at the paths of the database differ from the ones that the connection has open. */
type Change = 'database' | 'name' | 'index' | 'log' | 'log size'

/**
 * A connection to a prepared database that detects when its files are moved, deleted, replaced or truncated. SQLite does
 * not: it keeps writing to the old files, and the next start would not find the acknowledged writes.
 *
 * Files are identified by their inode numbers. The connection keeps its files open, so these numbers are not reused.
 */
export class OpenFile<T> {
  readonly connection: Database.Database
  readonly statements: T
  readonly #path: string
  readonly #options: OpenOptions<T>
  readonly #realPath: string
  readonly #logPath: string
  readonly #indexPath: string
  readonly #database: string
  readonly #log: string | undefined
  /** The index of the log (`-shm`), which also holds the locks between processes. */
  readonly #index: string | undefined
  /** Bytes at the last check. If the log is shorter now, its size is compared with SQLite's index of it. */
  #logSize: bigint | undefined

  constructor(path: string, options: OpenOptions<T>) {
    this.#path = path
    this.#options = options
    // Identified before the connection is opened, so that a replacement in between is detected.
    this.#realPath = realPathOf(path)
    this.#logPath = `${this.#realPath}-wal`
    this.#indexPath = `${this.#realPath}-shm`
    const database = identify(path)
    if (database === undefined) throw new MovedDatabase('The database, or its folder, is missing.')
    this.#database = database
    const log = identify(this.#logPath)
    this.connection = connect(path, { readonly: options.readonly, busyTimeout: 0 })
    const open = orClose(this.connection, () => {
      this.#refuseForeignDatabase()
      const statements = options.prepare(this.connection)
      // The first read of the connection has created the log and its index if they were missing.
      return { statements, log: log ?? identify(this.#logPath), index: identify(this.#indexPath) }
    })
    this.statements = open.statements
    this.#log = open.log
    this.#index = open.index
  }

  #refuseForeignDatabase(): void {
    if (this.connection.pragma('application_id', { simple: true }) !== BigInt(applicationId)) {
      throw new MovedDatabase('The file at the path of the database belongs to another program.')
    }
  }

  /**
   * Call it outside a transaction. If the connection can write, it first saves the commits of a log that was lost.
   *
   * @throws {MovedDatabase} if the path no longer leads to the open files.
   * @throws {StaleFiles}
   */
  checkPlace(): void {
    switch (this.#findChange()) {
      case 'database':
        throw new MovedDatabase('The database was moved, deleted or replaced.')
      case 'name':
        this.#checkpointLostLog()
        throw new StaleFiles('The database was renamed, and SQLite looks for its log under the new name.')
      case 'index':
        throw new StaleFiles(
          'The index of the write-ahead log (-shm) was deleted, so other processes do not see the locks of this one.',
        )
      case 'log':
        this.#checkpointLostLog()
        throw new MovedDatabase('The write-ahead log of the database was moved, deleted or replaced.')
      case 'log size':
        this.#refuseTruncatedLog()
    }
  }

  /**
   * Call it inside a transaction, which may have waited for its lock since the last check.
   *
   * @throws {FilesChanged} if {@link checkPlace} must examine the files.
   */
  refuseChange(): void {
    if (this.#findChange()) throw new FilesChanged('The files of the database have changed.')
  }

  #findChange(): Change | undefined {
    if (identify(this.#path) !== this.#database) return 'database'
    if (realPathOf(this.#path) !== this.#realPath) return 'name'
    if (identify(this.#indexPath) !== this.#index) return 'index'
    const log = statSync(this.#logPath, { bigint: true, throwIfNoEntry: false })
    if (this.#isLost(log && identityOf(log))) return 'log'
    // A database that an operator has put in place may have no log, which is slower and as durable.
    if (log && (this.#logSize === undefined || log.size < this.#logSize)) return 'log size'
    this.#logSize = log?.size
    return undefined
  }

  #isLost(log: string | undefined): boolean {
    return this.#log !== undefined && log !== this.#log
  }

  /** Moves the lost log into the database, because its commits are gone when the last connection to it closes. */
  #checkpointLostLog(): void {
    if (this.#options.readonly) return
    retryWhileBusy(checkpointTimeout, () => {
      const isBusy = this.connection.prepare<[], bigint>('PRAGMA wal_checkpoint(TRUNCATE)').pluck().get()
      if (isBusy) throw new LogInUse('The write-ahead log of the database was lost and cannot be saved yet.')
    })
  }

  #refuseTruncatedLog(): void {
    const frames = prepareLogState(this.connection).get()?.log ?? 0
    const pageSize = Number(this.connection.pragma('page_size', { simple: true }))
    // A header of 32 bytes, then 24 bytes and a page for each frame (https://sqlite.org/fileformat2.html, section 4.1).
    const length = frames > 0 ? 32 + frames * (24 + pageSize) : 0
    const size = statSync(this.#logPath, { bigint: true, throwIfNoEntry: false })?.size
    if (size !== undefined && size < length) {
      throw new StaleFiles(
        `Another program truncated the write-ahead log of the database to ${size} of ${length} bytes. Commits that were only in the log are lost. Restore a backup if you need them.`,
      )
    }
    this.#logSize = size
  }

  /** Opens the file that is at the path now. This one stays open until the caller closes it. */
  reopen(): OpenFile<T> {
    const isReplaced = identify(this.#path) !== this.#database
    const log = identify(`${realPathOf(this.#path)}-wal`)
    if (isReplaced && log !== undefined && log === this.#log) {
      // SQLite would replay the log of the old file into the new one and corrupt it.
      throw new MovedDatabase(
        'The database was replaced, but the write-ahead log of the old one is still there. Stop the service and use "petstore restore".',
      )
    }
    if (!isReplaced && this.#isLost(log)) this.#checkpointLostLog()
    return new OpenFile(this.#path, this.#options)
  }

  close(): void {
    this.connection.close()
  }
}

/** Has the code of SQLite, which detects this state only without a write-ahead log. */
class MovedDatabase extends Error {
  override name = 'MovedDatabase'
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
