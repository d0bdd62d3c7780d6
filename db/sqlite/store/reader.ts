import { setTimeout as wait } from 'node:timers/promises'
import type Database from 'better-sqlite3'
import type { Loaded } from '../../resource.ts'
import { rescueDatabase } from '../backup/rescue.ts'
import { orClose } from '../file/connection.ts'
import { concernsDatabase, type Failure, isBusy, mayBeReadError, storeError, toFailure } from '../file/failure.ts'
import { identify } from '../file/files.ts'
import { type HeaderWatch, openHeader, readHeader } from '../file/header.ts'
import { type Damage, DamagedFiles, OpenFile } from '../recovery/open-file.ts'
import type { Prepare, SqliteResource } from '../resource.ts'
import { prepareReads, type Reads } from './reads.ts'

/** Milliseconds between two checks of the files. */
const checkInterval = 1_000
const maxRescuePause = 60_000
/** Milliseconds for which a write waits for the recovery of the files. */
const maxRecoveryWait = 2_000
/** Milliseconds for which a read is retried while the database is locked. */
const busyTimeout = 200
const busyPause = 5

class DatabaseClosed extends Error {
  override name = 'DatabaseClosed'
  readonly code = 'SQLITE_CANTOPEN'

  constructor() {
    super(
      'The database is closed until its files can be opened again. Check that they are in place, or restart the service.',
    )
  }
}

interface ReaderEvents {
  /** Makes the writer save a lost log and close its files. Resolves to whether it has none open. */
  releaseWriter: () => Promise<boolean>
  /** Verifies that the database is corrupt. */
  verify: (failure: Failure) => Promise<Failure>
  /** Called with a sentence for the operator. */
  onWarning: (message: string) => void
}

/**
 * Reads on the event loop, on a connection that cannot write. In WAL mode readers rarely wait for a lock.
 *
 * It also decides what happens after damage of the files, for all connections of the process: see {@link recover}.
 */
export class Reader {
  readonly #path: string
  readonly #resources: Loaded<SqliteResource>
  readonly #events: ReaderEvents
  /** Of every read, in the order in which they were added. */
  readonly #prepares: Prepare<never[], unknown>[] = []
  #file: OpenFile<Reads>
  #header: HeaderWatch
  /** Stays set until the process ends, because SQLite's cache and log no longer belong to the file. */
  #overwritten: DamagedFiles | undefined
  /** The number of files that were opened before this one. Each counts its changes from the beginning. */
  #generation = 0
  #revision: number | undefined
  #isRevisionKnown = false
  readonly #checks: NodeJS.Timeout
  #isClosed = false
  #recovery: Promise<boolean> | undefined
  /** What the writer found when it closed the files that are open here. */
  #writerDamage: DamagedFiles | undefined
  /** The sentences for the operator about the open file. */
  #warnings = new Set<string>()
  #isRescued = false
  /** Milliseconds until a rescue that failed is tried again. */
  #rescuePause = checkInterval
  #nextRescue = 0

  constructor(path: string, resources: Loaded<SqliteResource>, events: ReaderEvents) {
    this.#path = path
    this.#resources = resources
    this.#events = events
    const header = openHeader(path)
    this.#file = orClose(header, () => this.#open(header))
    this.#header = header
    this.#checks = setInterval(() => void this.recover(), checkInterval).unref()
  }

  #open(header: HeaderWatch): OpenFile<Reads> {
    const prepare = (connection: Database.Database) => prepareReads(connection, this.#resources, this.#prepares)
    return new OpenFile(this.#path, { readonly: true, prepare, header })
  }

  /** Adds a read, which is prepared on the open file, and again on each file that is opened later. */
  add<Args extends unknown[], T>(prepare: Prepare<Args, T>): (...args: Args) => Promise<T> {
    const { connection, statements } = this.#file
    statements.reads.push(prepare(connection))
    const index = this.#prepares.push(prepare) - 1
    // Safe: the read at this index was prepared by this function.
    return (...args) => this.run(({ reads }) => (reads[index] as (...args: Args) => T)(...args))
  }

  async run<T>(read: (reads: Reads) => T): Promise<T> {
    let hasRecovered = false
    let hasRepeated = false
    for (const deadline = performance.now() + busyTimeout; ; ) {
      try {
        if (this.#overwritten) throw this.#overwritten
        return read(this.#file.statements)
      } catch (error) {
        const failure = toFailure(this.#file.connection.open ? error : new DatabaseClosed())
        if (isBusy(failure) && performance.now() < deadline) {
          await wait(busyPause)
        } else if (!hasRecovered && concernsDatabase(failure) && (await this.recover())) {
          hasRecovered = true
        } else if (mayBeReadError(failure) && !hasRepeated) {
          hasRepeated = true
        } else throw storeError(await this.#events.verify(this.#overwritten ? toFailure(this.#overwritten) : failure))
      }
    }
  }

  /**
   * All writes use other connections, so SQLite counts each of them as a change. The checks of one request run without a
   * pause in between and share one query.
   */
  revision(): number | undefined {
    if (!this.#isRevisionKnown) {
      this.#revision = this.#queryRevision()
      this.#isRevisionKnown = true
      queueMicrotask(() => (this.#isRevisionKnown = false))
    }
    return this.#revision
  }

  #queryRevision(): number | undefined {
    if (this.#overwritten) return undefined
    try {
      const version = this.#file.statements.dataVersion()
      return version === undefined ? undefined : this.#generation * 2 ** 32 + version
    } catch {
      return undefined
    }
  }

  /** @throws {StoreUnavailable} if another program wrote over the file, or if the file cannot be read. */
  checkHeader(): void {
    try {
      if (this.#overwritten) throw this.#overwritten
      if (!this.#header.isOverwritten()) return
      // A database that was also replaced is followed.
      if (this.#header.isFor(this.#path)) this.#markOverwritten()
      throw new DamagedFiles('database overwritten')
    } catch (error) {
      throw storeError(toFailure(error))
    }
  }

  #markOverwritten(): void {
    if (this.#overwritten) return
    this.#overwritten = new DamagedFiles('database overwritten')
    this.#warn(this.#overwritten.message)
  }

  /**
   * A descriptor of the open database for the writer, once no connection of the process has damaged files open.
   *
   * @throws {DamagedFiles} as long as the files cannot be opened.
   */
  permitWriter(): number | Promise<number> {
    if (this.#findProblem() === undefined) return this.#header.descriptor
    // A copy of a large database takes long.
    const limit = wait(maxRecoveryWait, undefined, { ref: false })
    return Promise.race([this.recover(), limit]).then(() => {
      const problem = this.#findProblem()
      if (problem) throw problem
      return this.#header.descriptor
    })
  }

  /**
   * Checks the files. If they are damaged: makes the writer save a lost log and close its files, copies what would be gone
   * when the last connection closes, and opens the files that are at the path by then. If that fails, reads continue on the
   * open file, and each later call tries again.
   *
   * @returns whether it opened other files.
   */
  recover(): Promise<boolean> {
    this.#recovery ??= this.#recoverOnce()
      .catch((error: unknown) => {
        this.#warn(toFailure(error).message)
        return false
      })
      .finally(() => (this.#recovery = undefined))
    return this.#recovery
  }

  /** Call it when the writer has closed its files because of damage. */
  leaveFiles(damage: Damage): void {
    this.#writerDamage = new DamagedFiles(damage)
    if (damage === 'database overwritten') this.#markOverwritten()
    void this.recover()
  }

  async #recoverOnce(): Promise<boolean> {
    return (await this.#leaveDamagedFiles()) && !this.#isClosed && this.#reopen()
  }

  /** Resolves to whether the files are damaged, and nothing would be lost if they were closed. */
  async #leaveDamagedFiles(): Promise<boolean> {
    if (!this.#file.connection.open) return true
    const problem = this.#findProblem()
    if (problem === undefined) return false
    const isReleased = await this.#events.releaseWriter()
    if (this.#overwritten || !(isReleased || this.#isClosed)) return false
    this.#warn(toFailure(this.#writerDamage ?? problem).message)
    return !this.#wouldBeLost() || this.#rescue()
  }

  /** Whether closing the files would lose commits. Asked after the writer has saved a lost log, if it could. */
  #wouldBeLost(): boolean {
    const damage = this.#file.findDamage()
    if (damage === 'database lost') return this.#header.isDeleted()
    return damage === 'log lost' && this.#file.hasUnsavedLog
  }

  #findProblem(): unknown {
    if (!this.#file.connection.open) return new DatabaseClosed()
    if (this.#overwritten ?? this.#writerDamage) return this.#overwritten ?? this.#writerDamage
    try {
      if (this.#header.isOverwritten() && this.#header.isFor(this.#path)) this.#markOverwritten()
      this.#file.check()
      // Stores the read mark for commits of other processes. On a frozen file system a read would block there (LogWatch).
      this.#queryRevision()
      return this.#overwritten
    } catch (error) {
      return error
    }
  }

  /** Copies the database with its log beside the path, once. Resolves to whether there is a copy. */
  async #rescue(): Promise<boolean> {
    if (this.#isRescued) return true
    if (performance.now() < this.#nextRescue && !this.#isClosed) return false
    try {
      const copy = await rescueDatabase(this.#file.connection, this.#path)
      this.#isRescued = true
      this.#warn(
        `The database, or its write-ahead log, is gone. The service has saved all that it acknowledged in ${copy}. To go back to that, stop the service and use "petstore restore".`,
      )
      return true
    } catch (error) {
      this.#warn(toFailure(error).message)
      this.#nextRescue = performance.now() + this.#rescuePause
      this.#rescuePause = Math.min(this.#rescuePause * 2, maxRescuePause)
      return false
    }
  }

  #warn(message: string): void {
    if (!this.#warnings.has(message)) this.#events.onWarning(message)
    this.#warnings.add(message)
  }

  #reopen(): boolean {
    const oldLog = this.#file.connection.open ? this.#file.setAsideOldLog() : undefined
    if (oldLog !== undefined) this.#warn(`An old copy of the write-ahead log was in its place, and is now ${oldLog}.`)
    if (!this.#isUsable()) return false
    // Before the new file is opened, because all connections of a process share one index of the log.
    this.#file.close()
    try {
      this.#followPath()
      this.#file = this.#open(this.#header)
    } catch {
      // Requests report that the file cannot be read, and try again.
      return false
    }
    this.#generation++
    this.#isRescued = false
    this.#rescuePause = checkInterval
    this.#nextRescue = 0
    this.#writerDamage = undefined
    this.#warnings.clear()
    return true
  }

  #followPath(): void {
    if (this.#header.isFor(this.#path)) return
    const next = openHeader(this.#path)
    this.#warn('The database was replaced by another one. The service uses the new one from now on.')
    this.#header.close()
    this.#header = next
  }

  /** Whether the open file may be closed for the one at the path. */
  #isUsable(): boolean {
    if (!this.#file.connection.open) return true
    if (identify(this.#path) === undefined) return false
    if (this.#file.wouldCorruptSuccessor) {
      this.#warn(
        'The database was replaced, but the write-ahead log of the old one is still there. Stop the service and use "petstore restore".',
      )
      return false
    }
    try {
      return readHeader(this.#path).isOurs
    } catch {
      return false
    }
  }

  /** Closes the file after it has saved what would be lost. {@link closeHeader} must follow when the writer is closed. */
  async close(): Promise<void> {
    clearInterval(this.#checks)
    this.#isClosed = true
    await this.#recovery
    await this.#leaveDamagedFiles().catch((error: unknown) => this.#warn(toFailure(error).message))
    this.#file.close()
  }

  /** Call it after the writer is closed: see {@link HeaderWatch.close}. */
  closeHeader(): void {
    this.#header.close()
  }
}
