import { lstatSync } from 'node:fs'
import type Database from 'better-sqlite3'
import { connect, orClose, retryWhileBusy } from '../file/connection.ts'
import { type Damage, FileError } from '../file/file-state.ts'
import { identify, identityOf, realPathOf } from '../file/files.ts'
import { applicationId } from '../file/header.ts'
import type { HeaderWatch } from './header-watch.ts'
import { LogFile } from './log-file.ts'

interface OpenOptions<T> {
  readonly: boolean
  /** Prepares the statements for each connection that is opened. */
  prepare: (connection: Database.Database) => T
  /** Of the file at the path. */
  header: HeaderWatch
}

/** Milliseconds to wait for readers that prevent the checkpoint of a lost log. */
const checkpointTimeout = 1_000

/**
 * A connection to a prepared database that detects when its files are moved, deleted, replaced or truncated. SQLite does
 * not: it keeps writing to the old files, and the next start would not find the acknowledged writes.
 *
 * All connections of a process share one index, in memory.
 *
 * Files are identified by their inode numbers. The connection keeps its files open, so these numbers are not reused.
 */
export class OpenFile<T> {
  readonly connection: Database.Database
  readonly statements: T
  readonly #path: string
  readonly #options: OpenOptions<T>
  readonly #realPath: string
  readonly #indexPath: string
  readonly #log: LogFile
  readonly #index: string | undefined

  constructor(path: string, options: OpenOptions<T>) {
    this.#path = path
    this.#options = options
    // Identified before the connection is opened, so that a replacement in between is detected.
    this.#realPath = realPathOf(path)
    this.#indexPath = `${this.#realPath}-shm`
    if (!options.header.isFor(path)) throw new FileError('database lost')
    const logPath = `${this.#realPath}-wal`
    const log = identify(logPath)
    this.connection = connect(path, { readonly: options.readonly, busyTimeout: 0 })
    const open = orClose(this.connection, () => {
      this.#refuseForeignDatabase()
      const statements = options.prepare(this.connection)
      // The first read of the connection has created the log and its index if they were missing.
      const index = identify(this.#indexPath)
      return { statements, log: new LogFile(logPath, log, this.connection), index }
    })
    this.statements = open.statements
    this.#log = open.log
    this.#index = open.index
  }

  #refuseForeignDatabase(): void {
    if (this.connection.pragma('application_id', { simple: true }) !== BigInt(applicationId)) {
      throw new FileError('database foreign')
    }
  }

  /**
   * Call it outside a transaction. If the log was lost and the connection can write, it first moves the commits of the log
   * into the database, because they are gone when the last connection to the log closes.
   *
   * @throws {FileError}
   */
  check(): void {
    const damage = this.findDamage()
    if (damage === undefined) return
    if (damage === 'database overwritten' || this.#options.readonly) throw new FileError(damage)
    // Independent of the other files: the log may be lost together with the index or the database.
    const isLogLost = this.#log.isLost()
    const oldLog = this.setAsideOldLog()
    if (damage !== 'database lost' && isLogLost && this.#log.isForked()) throw new FileError('log forked')
    if (isLogLost || damage === 'database renamed') this.#checkpoint()
    throw new FileError(damage, oldLog)
  }

  /**
   * Call it inside a transaction, which may have waited for its lock since the last check.
   *
   * @throws {FileError} `files changed` if {@link check} must examine the files.
   */
  refuseChange(): void {
    if (this.#findChange()) throw new FileError('files changed')
  }

  findDamage(): Damage | undefined {
    const change = this.#findChange()
    if (change !== 'log shorter') return change
    if (this.#log.isTruncated()) return 'log truncated'
    return this.#isIndexLost() ? 'index lost' : undefined
  }

  /** Runs no statement. */
  #findChange(): Damage | 'log shorter' | undefined {
    const { header } = this.#options
    const named = lstatSync(this.#realPath, { bigint: true, throwIfNoEntry: false })
    const isNamed = named !== undefined && identityOf(named) === header.identity
    const isAtPath = (isNamed && this.#path === this.#realPath) || header.isFor(this.#path)
    if (!isAtPath) return 'database lost'
    if (!isNamed) return header.isOverwritten() ? 'database overwritten' : 'database renamed'
    if (header.isOverwrittenSince(named)) return 'database overwritten'
    const log = this.#log.findChange()
    if (log !== undefined) return `log ${log}`
    return this.#isIndexLost() ? 'index lost' : undefined
  }

  #isIndexLost(): boolean {
    return identify(this.#indexPath) !== this.#index
  }

  /**
   * Call it after each commit: before it returns, the commit must not be acknowledged.
   *
   * @throws {FileError}
   */
  confirmCommit(): void {
    this.check()
    if (!this.#log.isIntact()) throw new FileError('log truncated')
  }

  /** Whether commits are in the log, but not in the database. */
  get hasUnsavedLog(): boolean {
    return this.#log.isUnsaved()
  }

  /** See {@link LogFile.setAsideOldCopy}. A log beside another database belongs to that database. */
  setAsideOldLog(): string | undefined {
    return this.#options.header.isFor(this.#path) ? this.#log.setAsideOldCopy() : undefined
  }

  /** Moves the whole log into the open database, and empties it, so that it changes nothing if it comes back. */
  #checkpoint(): void {
    retryWhileBusy(checkpointTimeout, () => {
      const isBusy = this.connection.prepare<[], bigint>('PRAGMA wal_checkpoint(TRUNCATE)').pluck().get()
      if (isBusy) throw new FileError('log in use')
    })
  }

  /** Whether SQLite would apply the log of this database to the other one that is now at the path, and corrupt it. */
  get wouldCorruptSuccessor(): boolean {
    return !this.#options.header.isFor(this.#path) && this.#log.isAt(`${realPathOf(this.#path)}-wal`)
  }

  close(): void {
    this.connection.close()
    this.#log.close()
  }
}
