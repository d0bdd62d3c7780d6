import { type BigIntStats, lstatSync } from 'node:fs'
import type Database from 'better-sqlite3'
import { connect, orClose, retryWhileBusy } from '../file/connection.ts'
import { identify, identityOf, realPathOf } from '../file/files.ts'
import { applicationId, type HeaderWatch } from '../file/header.ts'
import { LogFile } from './log-file.ts'

interface OpenOptions<T> {
  readonly: boolean
  /** Prepares the statements for each connection that is opened. */
  prepare: (connection: Database.Database) => T
  /** Of the file at the path. Without it, {@link OpenFile.check} does not detect that the file was overwritten. */
  header?: HeaderWatch | undefined
}

/** Milliseconds to wait for readers that prevent the checkpoint of a lost log. */
const checkpointTimeout = 1_000

/**
 * What happened to the files, the most serious first: of several, the first one decides. A file is lost if the path no
 * longer leads to the one that the connection has open.
 */
export type Damage =
  | 'database lost'
  | 'database overwritten'
  /** The path leads to the same file under another name, and SQLite names the log after it. */
  | 'database renamed'
  /** Another process has begun a log of its own, so this one cannot be moved into the database. */
  | 'log forked'
  | 'log lost'
  | 'log truncated'
  /** The index of the log (`-shm`), which also holds the locks between processes. */
  | 'index lost'

const sentences: Record<Damage, string> = {
  'database lost': 'The database was moved, deleted or replaced. Put it back, or restore it.',
  'database overwritten':
    'Another program wrote over the database file while the service had it open. Stop the service and restore a backup with "petstore restore".',
  'database renamed':
    'The database was renamed, and SQLite looks for its log under the new name. The service opens it under that name.',
  'log forked':
    'The write-ahead log was moved or deleted, and another process has written to a new one meanwhile. The service saves a copy of its own commits.',
  'log lost':
    'The write-ahead log of the database was moved, deleted or replaced. The service moves its commits into the database.',
  'log truncated':
    'Another program truncated the write-ahead log of the database. Commits that were only in the log are lost. Restore a backup if you need them.',
  'index lost':
    'The index of the write-ahead log (-shm) was deleted, so other processes do not see the locks of this one. The service opens the files again.',
}

/**
 * A connection to a prepared database that detects when its files are moved, deleted, replaced or truncated. SQLite does
 * not: it keeps writing to the old files, and the next start would not find the acknowledged writes.
 *
 * All connections of a process share one index, in memory. After any damage, each of them must be closed before one is
 * opened again.
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
  readonly #database: string
  readonly #log: LogFile
  readonly #index: string | undefined
  /** Of the database file at the last check of its header. */
  #writtenAt: bigint | undefined
  #size: bigint | undefined

  constructor(path: string, options: OpenOptions<T>) {
    this.#path = path
    this.#options = options
    // Identified before the connection is opened, so that a replacement in between is detected.
    this.#realPath = realPathOf(path)
    this.#indexPath = `${this.#realPath}-shm`
    const database = identify(path)
    if (database === undefined) throw new DamagedFiles('database lost')
    this.#database = database
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
      throw new ForeignDatabase(
        'The file at the path of the database belongs to another program. Put the database back.',
      )
    }
  }

  /**
   * Call it outside a transaction. If the log was lost and the connection can write, it first moves the commits of the log
   * into the database, because they are gone when the last connection to the log closes.
   *
   * @throws {DamagedFiles}
   */
  check(): void {
    const damage = this.findDamage()
    if (damage === undefined) return
    if (damage === 'database overwritten' || this.#options.readonly) throw new DamagedFiles(damage)
    // Independent of the other files: the log may be lost together with the index or the database.
    const isLogLost = this.#log.isLost()
    const oldLog = this.setAsideOldLog()
    if (damage !== 'database lost' && isLogLost && this.#log.isForked()) throw new DamagedFiles('log forked')
    if (isLogLost || damage === 'database renamed') this.#checkpoint()
    throw new DamagedFiles(damage, oldLog)
  }

  /**
   * Call it inside a transaction, which may have waited for its lock since the last check.
   *
   * @throws {FilesChanged} if {@link check} must examine the files.
   */
  refuseChange(): void {
    if (this.#findChange()) throw new FilesChanged('The files of the database have changed.')
  }

  findDamage(): Damage | undefined {
    const change = this.#findChange()
    if (change !== 'log shorter') return change
    if (this.#log.isTruncated()) return 'log truncated'
    return this.#isIndexLost() ? 'index lost' : undefined
  }

  /** Runs no statement. */
  #findChange(): Damage | 'log shorter' | undefined {
    const named = lstatSync(this.#realPath, { bigint: true, throwIfNoEntry: false })
    const isNamed = named !== undefined && identityOf(named) === this.#database
    const isAtPath = (isNamed && this.#path === this.#realPath) || identify(this.#path) === this.#database
    if (!isAtPath) return 'database lost'
    if (!isNamed) return this.isOverwritten() ? 'database overwritten' : 'database renamed'
    if (this.#isOverwritten(named)) return 'database overwritten'
    const log = this.#log.findChange()
    if (log !== undefined) return `log ${log}`
    return this.#isIndexLost() ? 'index lost' : undefined
  }

  #isIndexLost(): boolean {
    return identify(this.#indexPath) !== this.#index
  }

  /** Compares the header only if the file was written since the last comparison. */
  #isOverwritten({ mtimeNs, size }: BigIntStats): boolean {
    if (mtimeNs === this.#writtenAt && size === this.#size) return false
    if (this.isOverwritten()) return true
    this.#writtenAt = mtimeNs
    this.#size = size
    return false
  }

  isOverwritten(): boolean {
    return this.#options.header?.isOverwritten() ?? false
  }

  /**
   * Call it after each commit: before it returns, the commit must not be acknowledged.
   *
   * @throws {DamagedFiles}
   */
  confirmCommit(): void {
    this.check()
    if (!this.#log.isIntact()) throw new DamagedFiles('log truncated')
  }

  /** Whether commits are in the log, but not in the database. */
  get hasUnsavedLog(): boolean {
    return this.#log.isUnsaved()
  }

  /** See {@link LogFile.setAsideOldCopy}. A log beside another database belongs to that database. */
  setAsideOldLog(): string | undefined {
    return identify(this.#path) === this.#database ? this.#log.setAsideOldCopy() : undefined
  }

  /** Moves the whole log into the open database, and empties it, so that it changes nothing if it comes back. */
  #checkpoint(): void {
    retryWhileBusy(checkpointTimeout, () => {
      const isBusy = this.connection.prepare<[], bigint>('PRAGMA wal_checkpoint(TRUNCATE)').pluck().get()
      if (isBusy)
        throw new LogInUse(
          'The write-ahead log of the database was lost and cannot be saved yet. End the other processes that read the database.',
        )
    })
  }

  /** Whether SQLite would apply the log of this database to the other one that is now at the path, and corrupt it. */
  get wouldCorruptSuccessor(): boolean {
    return identify(this.#path) !== this.#database && this.#log.isAt(`${realPathOf(this.#path)}-wal`)
  }

  close(): void {
    this.connection.close()
    this.#log.close()
  }
}

/** Has the code of SQLite, which detects a lost database only without a write-ahead log. */
class ForeignDatabase extends Error {
  override name = 'ForeignDatabase'
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

/** The connection must be closed, and so must all others of the process. */
export class DamagedFiles extends Error {
  override name = 'DamagedFiles'
  readonly code: string
  readonly damage: Damage

  /** @param oldLog the path of an old copy of the log that was set aside. */
  constructor(damage: Damage, oldLog?: string) {
    const note = oldLog === undefined ? '' : ` An old copy of the log was in its place, and is now ${oldLog}.`
    super(sentences[damage] + note)
    this.damage = damage
    // The code of an overwritten database counts as corrupt, because a retry cannot succeed.
    this.code = damage === 'database overwritten' ? 'SQLITE_CORRUPT_OVERWRITTEN' : 'SQLITE_READONLY_DBMOVED'
  }
}
