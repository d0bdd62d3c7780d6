import { lstatSync, renameSync, rmSync } from 'node:fs'
import type Database from 'better-sqlite3'
import { connect, orClose } from './connection.ts'
import { type Damage, FilesDamaged } from './damage.ts'
import { fileTimestamp, identify, identityOf, realPathOf, sizeOf } from './files.ts'
import { LogFile, type LogState, openAs } from './log-file.ts'

/** The inode numbers, which are not reused while the files are open. A database without WAL mode has only the first one. */
export interface FileIdentities {
  database: string | undefined
  log: string | undefined
  index: string | undefined
}

interface OpenOptions {
  readonly: boolean
  /** The identity of the files that another connection of this process has open. All share one index, in memory. */
  identities?: FileIdentities
}

/** Milliseconds to wait for readers that prevent the checkpoint of a lost log. */
const checkpointTimeout = 1_000

/**
 * A connection to a prepared database that detects when its files are deleted, moved, replaced or truncated. SQLite does
 * not: it keeps writing to the old files, and the next start would not find the acknowledged writes.
 */
export class OpenFile {
  readonly connection: Database.Database
  readonly identities: FileIdentities
  readonly #path: string
  readonly #realPath: string
  readonly #log: LogFile | undefined

  /** @throws {FilesDamaged} if other files are in place, because SQLite would use the index of the open ones for them. */
  constructor(path: string, { readonly, identities }: OpenOptions) {
    this.#path = path
    this.#realPath = realPathOf(path)
    if (identities) this.#refuse(this.#findLostFile(identities))
    this.connection = connect(path, { readonly, busyTimeout: 0 })
    const open = orClose(this.connection, () => {
      // The first read creates the log and its index if they are missing. Since then a lock keeps other processes from
      // deleting them.
      this.connection.pragma('schema_version')
      const found = identities ?? this.#identifyFiles()
      const descriptor = found.log === undefined ? undefined : openAs(`${this.#realPath}-wal`, found.log)
      return { found, log: descriptor === undefined ? undefined : new LogFile(descriptor, this.connection) }
    })
    this.identities = open.found
    this.#log = open.log
  }

  #identifyFiles(): FileIdentities {
    const [log, index] = [`${this.#realPath}-wal`, `${this.#realPath}-shm`].map(identify)
    return { database: identify(this.#path), log, index }
  }

  /** Runs no statement, so a transaction can call it, which may have waited for its lock. Throws FilesDamaged. */
  refuseLostFile(): void {
    this.#refuse(this.#findLostFile(this.identities))
  }

  /** Call it after each commit: before it returns, the commit must not be acknowledged. Throws FilesDamaged. */
  refuseDamage(): void {
    this.refuseLostFile()
    if (this.#log?.isIntact() === false) this.#refuse('log truncated')
  }

  /** See {@link LogFile.look}. Undefined without a log, as of a database that is not in WAL mode. Throws FilesDamaged. */
  lookAtLog(): LogState | undefined {
    const state = this.#log?.look()
    if (this.#log && !state) this.#refuse('log truncated')
    return state
  }

  #refuse(damage: Damage | undefined): void {
    if (damage) throw new FilesDamaged(damage)
  }

  #findLostFile({ database, log, index }: FileIdentities): Damage | undefined {
    const named = lstatSync(this.#realPath, { bigint: true, throwIfNoEntry: false })
    const isNamed = named !== undefined && identityOf(named) === database
    const isInPlace = (isNamed && this.#path === this.#realPath) || this.#isInPlace(database)
    if (!isInPlace) return 'database lost'
    // If the path leads to the database under another name, SQLite names the log after that.
    if (!isNamed || isLost(`${this.#realPath}-wal`, log) || isLost(`${this.#realPath}-shm`, index)) return 'log lost'
    return undefined
  }

  #isInPlace(database: string | undefined): boolean {
    return database !== undefined && identify(this.#path) === database
  }

  /** The log that the next start uses for this database. Undefined if it uses another database. */
  get #nextLog(): string | undefined {
    return this.#isInPlace(this.identities.database) ? `${realPathOf(this.#path)}-wal` : undefined
  }

  /** Whether the next start finds all commits. */
  isSaved(): boolean {
    const log = this.#nextLog
    return log !== undefined && (!isLost(log, this.identities.log) || this.#log?.isUnsaved() === false)
  }

  /** Renames an old copy in the place of the log: SQLite would apply it, and undo later commits. Returns the new path. */
  setAsideOldLog(): string | undefined {
    const log = this.#nextLog
    if (log === undefined || identify(log) === undefined || !isLost(log, this.identities.log)) return undefined
    if (!this.#log?.isCopy(log)) return undefined
    const kept = `${log}.old-${fileTimestamp()}`
    renameSync(log, kept)
    return kept
  }

  /**
   * If the next start would not find the log, moves it into the open database, and empties it, so that it changes nothing if
   * it is in the place of the log of another database. Not if another process has begun a log of its own: each has pages that
   * the other one does not know, so the database can follow only one of them.
   */
  saveLostLog(): void {
    const log = this.#nextLog
    if (log !== undefined && (!isLost(log, this.identities.log) || sizeOf(log) > 0)) return
    this.connection.pragma(`busy_timeout = ${checkpointTimeout}`)
    this.connection.pragma('wal_checkpoint(TRUNCATE)')
  }

  /** Deletes the index of a database that was deleted or moved. `restore` refuses to run if there is one. */
  deleteIndex(): void {
    const index = `${this.#realPath}-shm`
    const hasName = lstatSync(this.#realPath, { throwIfNoEntry: false }) !== undefined
    if (!hasName && identify(index) === this.identities.index) rmSync(index, { force: true })
  }

  close(): void {
    if (!this.connection.open) return
    this.connection.close()
    this.#log?.close()
  }
}

function isLost(path: string, identity: string | undefined): boolean {
  return identity !== undefined && identify(path) !== identity
}
