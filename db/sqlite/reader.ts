import { setTimeout as wait } from 'node:timers/promises'
import { orClose } from './connection.ts'
import { concernsDatabase, type Failure, isBusy, storeError, toFailure } from './failure.ts'
import { DatabaseOverwritten, HeaderWatch } from './header-watch.ts'
import { OpenFile, StaleFiles } from './open-file.ts'
import { prepareReads, type Reads } from './reads.ts'

/** How often to look, in milliseconds, whether the file is still in its place. */
const watchInterval = 1_000
/** Milliseconds, for a turn of the event loop that takes in requests for longer. */
const longestSnapshot = 1
const busyPatience = 200
const busyPause = 5

const closedFile: Failure = {
  code: 'SQLITE_CANTOPEN',
  message: 'The database is closed until its files can be opened again.',
}

interface ReaderEvents {
  /** Makes the writer check its files: it saves a lost log, and closes a truncated one. */
  checkWriter: () => Promise<unknown>
  /** Called with a sentence for the operator. */
  onWarning: (message: string) => void
}

/**
 * Reads on the event loop, on a connection that cannot write and, in WAL mode, hardly ever meets a lock. If the file is
 * replaced, it opens the new one; if the file is gone, it keeps reading from the one it has open.
 *
 * What is read in one turn of the event loop is read from one snapshot: SQLite's locks, which cost more than finding a
 * row, are taken once for all of it. A request that comes after a change is read in a later turn; no snapshot is older than
 * a millisecond when it is read from.
 */
export class Reader {
  readonly #path: string
  #file: OpenFile
  #header: HeaderWatch
  /** Stays set until the process ends: SQLite's cache and log no longer belong to the file. */
  #overwritten: DatabaseOverwritten | undefined
  #reads: Reads
  #takenAt = 0
  /** Of how many files it has read before this one, each of which counts its changes for itself. */
  #predecessors = 0
  readonly #events: ReaderEvents
  readonly #watch: NodeJS.Timeout
  #isClosed = false
  /** Resolves to whether the file was opened anew. */
  #following: Promise<boolean> | undefined

  constructor(path: string, events: ReaderEvents) {
    this.#path = path
    this.#file = new OpenFile(path, { readonly: true })
    this.#header = new HeaderWatch(path)
    this.#reads = prepareReads(this.#file.connection)
    this.#events = events
    this.#watch = setInterval(() => void this.#follow(), watchInterval).unref()
  }

  async run<T>(read: (reads: Reads) => T): Promise<T> {
    let hasFollowed = false
    for (const deadline = performance.now() + busyPatience; ; ) {
      try {
        if (this.#overwritten) throw this.#overwritten
        this.#takeSnapshot()
        return read(this.#reads)
      } catch (error) {
        const failure = this.#file.isOpen ? toFailure(error) : closedFile
        if (isBusy(failure) && performance.now() < deadline) {
          await wait(busyPause)
        } else if (!hasFollowed && concernsDatabase(failure) && (await this.#follow())) {
          hasFollowed = true
        } else throw storeError(this.#overwritten ? toFailure(this.#overwritten) : this.#file.explain(failure))
      }
    }
  }

  /** Every write comes through another connection, so that SQLite counts it as a change. */
  revision(): number | undefined {
    if (this.#overwritten) return undefined
    try {
      this.#takeSnapshot()
      const version = this.#reads.dataVersion()
      return version === undefined ? undefined : this.#predecessors * 2 ** 32 + version
    } catch {
      return undefined
    }
  }

  /** What is read from now on is read from a new snapshot. */
  dropSnapshot(): void {
    // SQLite ends a transaction by itself when it cannot read the file.
    if (this.#file.connection.inTransaction) this.#reads.rollback()
  }

  /** @throws {StoreUnavailable} if another program wrote over the file, or it cannot be read. */
  checkHeader(): void {
    try {
      if (!this.#header.isOverwritten()) return
      const error = new DatabaseOverwritten()
      if (!this.#overwritten && this.#header.isFor(this.#path)) {
        this.#overwritten = error
        this.#events.onWarning(error.message)
      }
      throw error
    } catch (error) {
      throw storeError(toFailure(error))
    }
  }

  /** Call it after the writer is closed, too: see {@link HeaderWatch}. */
  closeHeader(): void {
    this.#header.close()
  }

  /** The next read opens the file again. */
  closeFile(): void {
    this.dropSnapshot()
    this.#file.close()
  }

  close(): void {
    clearInterval(this.#watch)
    this.#isClosed = true
    this.closeFile()
  }

  #takeSnapshot(): void {
    const now = performance.now()
    if (now - this.#takenAt > longestSnapshot) this.dropSnapshot()
    if (this.#file.connection.inTransaction) return
    this.#reads.begin()
    this.#takenAt = now
    setImmediate(() => this.dropSnapshot())
  }

  #follow(): Promise<boolean> {
    this.#following ??= this.#followOnce().finally(() => (this.#following = undefined))
    return this.#following
  }

  async #followOnce(): Promise<boolean> {
    const problem = this.#file.isOpen ? this.#findProblem() : closedFile
    if (problem === undefined || this.#overwritten) return false
    await this.#events.checkWriter().catch(() => {})
    // After the writer: when the last connection closes and can write, SQLite moves the log into the database by its index.
    if (problem instanceof StaleFiles) this.closeFile()
    return !this.#isClosed && this.#reopen()
  }

  #findProblem(): unknown {
    try {
      this.dropSnapshot()
      this.#file.checkPlace()
      this.checkHeader()
      // Stores the read mark of other processes' commits, which no read can do while the file system is frozen (LogWatch).
      this.revision()
      return undefined
    } catch (error) {
      return error
    }
  }

  #watchHeader(): void {
    if (this.#header.isFor(this.#path)) return
    this.#events.onWarning('The database was replaced by another one, which the service uses from now on.')
    const next = new HeaderWatch(this.#path)
    this.#header.close()
    this.#header = next
  }

  #reopen(): boolean {
    try {
      this.dropSnapshot()
      const next = this.#file.reopen()
      const reads = orClose(next, () => {
        this.#watchHeader()
        return prepareReads(next.connection)
      })
      this.#file.close()
      this.#file = next
      this.#reads = reads
      this.#predecessors++
      return true
    } catch {
      // The file at the path cannot be read. Writes report it, and reads continue on the open file.
      return false
    }
  }
}
