import { setTimeout as wait } from 'node:timers/promises'
import type Database from 'better-sqlite3'
import { rescueDatabase } from '../backup/rescue.ts'
import { orClose } from '../file/connection.ts'
import { storeError, toFailure } from '../file/failure.ts'
import { type Damage, FileError } from '../file/file-state.ts'
import { identify } from '../file/files.ts'
import { readHeader } from '../file/header.ts'
import { type HeaderWatch, openHeader } from './header-watch.ts'
import { OpenFile } from './open-file.ts'

/** Milliseconds between two checks of the files. */
const checkInterval = 1_000
const maxRescuePause = 60_000
/** Milliseconds for which a write waits for the recovery of the files. */
const maxRecoveryWait = 2_000

export interface RecoveryOptions<T> {
  path: string
  /** Prepares the reads for each file that is opened. */
  prepare: (connection: Database.Database) => T
  /** Makes the writer save a lost log and close its files. Resolves to whether it has none open. */
  releaseWriter: () => Promise<boolean>
  /** Called with a sentence for the operator. */
  onWarning: (message: string) => void
}

/**
 * The file that the event loop reads. It decides what happens after damage of the files, for all connections of the process:
 * see {@link recover}.
 */
export class Recovery<T extends { dataVersion(): number | undefined }> {
  readonly #options: RecoveryOptions<T>
  #header: HeaderWatch
  #file: OpenFile<T>
  /**
   * What the writer found when it closed the files that are open here. `database overwritten` stays until the process ends,
   * because SQLite's cache and log no longer belong to the file.
   */
  #damage: FileError | undefined
  /** The number of files that were opened before this one. Each counts its changes from the beginning. */
  #generation = 0
  readonly #checks: NodeJS.Timeout
  #isClosed = false
  #running: Promise<boolean> | undefined
  /** The sentences for the operator about the open file. */
  #warnings = new Set<string>()
  #isRescued = false
  /** Milliseconds until a rescue that failed is tried again. */
  #rescuePause = checkInterval
  #nextRescue = 0

  constructor(options: RecoveryOptions<T>) {
    this.#options = options
    const header = openHeader(options.path)
    this.#file = orClose(header, () => this.#open(header))
    this.#header = header
    this.#checks = setInterval(() => void this.recover(), checkInterval).unref()
  }

  #open(header: HeaderWatch): OpenFile<T> {
    const { path, prepare } = this.#options
    return new OpenFile(path, { readonly: true, prepare, header })
  }

  /** @throws {FileError} if the database was overwritten. */
  get file(): OpenFile<T> {
    if (this.#isOverwritten) throw this.#damage
    return this.#file
  }

  get #isOverwritten(): boolean {
    return this.#damage?.state === 'database overwritten'
  }

  /** What a read must report that has thrown this error. */
  explain(error: unknown): unknown {
    if (this.#isOverwritten) return this.#damage
    return this.#file.connection.open ? error : new FileError('files closed')
  }

  /** Changes with each commit. Undefined if the files cannot be read. */
  revision(): number | undefined {
    try {
      const version = this.file.statements.dataVersion()
      return version === undefined ? undefined : this.#generation * 2 ** 32 + version
    } catch {
      return undefined
    }
  }

  /** @throws {StoreUnavailable} if another program wrote over the file, or if the file cannot be read. */
  checkHeader(): void {
    try {
      if (this.#isOverwritten || this.#detectOverwrite()) throw new FileError('database overwritten')
    } catch (error) {
      throw storeError(toFailure(error))
    }
  }

  /** A database that was also replaced is followed. */
  #detectOverwrite(): boolean {
    const isOverwritten = this.#header.isOverwritten()
    if (isOverwritten && this.#header.isFor(this.#options.path)) this.#mark('database overwritten')
    return isOverwritten
  }

  #mark(damage: Damage): void {
    if (this.#isOverwritten) return
    this.#damage = new FileError(damage)
    if (this.#isOverwritten) this.#warn(this.#damage)
  }

  /**
   * A descriptor of the open database for the writer, once no connection of the process has damaged files open.
   *
   * @throws {FileError} as long as the files cannot be opened.
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
    this.#running ??= this.#recoverOnce()
      .catch((error: unknown) => {
        this.#warn(error)
        return false
      })
      .finally(() => (this.#running = undefined))
    return this.#running
  }

  /** Call it when the writer has closed its files because of damage. */
  leaveFiles(damage: Damage): void {
    this.#mark(damage)
    void this.recover()
  }

  async #recoverOnce(): Promise<boolean> {
    return (await this.#leaveDamagedFiles()) && !this.#isClosed && this.#reopen()
  }

  /** Resolves to whether the files are damaged, and nothing would be lost if they were closed. */
  async #leaveDamagedFiles(): Promise<boolean> {
    if (!this.#file.connection.open) return !this.#isOverwritten
    const problem = this.#findProblem()
    if (problem === undefined) return false
    const isReleased = await this.#options.releaseWriter()
    if (this.#isOverwritten || !(isReleased || this.#isClosed)) return false
    this.#warn(this.#damage ?? problem)
    return !this.#wouldBeLost() || this.#rescue()
  }

  /** Whether closing the files would lose commits. Asked after the writer has saved a lost log, if it could. */
  #wouldBeLost(): boolean {
    const damage = this.#file.findDamage()
    if (damage === 'database lost') return this.#header.isDeleted()
    return damage === 'log lost' && this.#file.hasUnsavedLog
  }

  #findProblem(): unknown {
    if (!this.#file.connection.open) return new FileError('files closed')
    if (this.#damage) return this.#damage
    try {
      this.#detectOverwrite()
      this.#file.check()
      // Stores the read mark for commits of other processes. On a frozen file system a read would block there (LogWatch).
      this.revision()
      return this.#damage
    } catch (error) {
      return error
    }
  }

  /** Copies the database with its log beside the path, once. Resolves to whether there is a copy. */
  async #rescue(): Promise<boolean> {
    if (this.#isRescued) return true
    if (performance.now() < this.#nextRescue && !this.#isClosed) return false
    try {
      const copy = await rescueDatabase(this.#file.connection, this.#options.path)
      this.#isRescued = true
      this.#warn(
        `The database, or its write-ahead log, is gone. The service has saved all that it acknowledged in ${copy}. To go back to that, stop the service and use "petstore restore".`,
      )
      return true
    } catch (error) {
      this.#warn(error)
      this.#nextRescue = performance.now() + this.#rescuePause
      this.#rescuePause = Math.min(this.#rescuePause * 2, maxRescuePause)
      return false
    }
  }

  #warn(reason: unknown): void {
    const { message } = toFailure(reason)
    if (!this.#warnings.has(message)) this.#options.onWarning(message)
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
    this.#damage = undefined
    this.#warnings.clear()
    return true
  }

  #followPath(): void {
    const { path } = this.#options
    if (this.#header.isFor(path)) return
    const next = openHeader(path)
    this.#warn('The database was replaced by another one. The service uses the new one from now on.')
    this.#header.close()
    this.#header = next
  }

  /** Whether the open file may be closed for the one at the path. */
  #isUsable(): boolean {
    const { path } = this.#options
    if (!this.#file.connection.open) return true
    if (identify(path) === undefined) return false
    if (this.#file.wouldCorruptSuccessor) {
      this.#warn(
        'The database was replaced, but the write-ahead log of the old one is still there. Stop the service and use "petstore restore".',
      )
      return false
    }
    try {
      return readHeader(path).isOurs
    } catch {
      return false
    }
  }

  /** Closes the file after it has saved what would be lost. {@link closeHeader} must follow when the writer is closed. */
  async close(): Promise<void> {
    clearInterval(this.#checks)
    this.#isClosed = true
    await this.#running
    await this.#leaveDamagedFiles().catch((error: unknown) => this.#warn(error))
    this.#file.close()
  }

  /** Call it after the writer is closed: see {@link HeaderWatch.close}. */
  closeHeader(): void {
    this.#header.close()
  }
}
