import { setTimeout as wait } from 'node:timers/promises'
import { orClose } from './connection.ts'
import { concernsDatabase, type Failure, isBusy, mayBeReadError, storeError, toFailure } from './failure.ts'
import { DatabaseOverwritten, HeaderWatch } from './header.ts'
import { OpenFile, StaleFiles } from './open-file.ts'
import { prepareReads, type Reads } from './reads.ts'

/** Milliseconds between two checks of the files. */
const checkInterval = 1_000
/** Milliseconds for which a read is retried while the database is locked. */
const busyTimeout = 200
const busyPause = 5

const closedFile: Failure = {
  code: 'SQLITE_CANTOPEN',
  message:
    'The database is closed until its files can be opened again. Check that they are in place, or restart the service.',
}

interface ReaderEvents {
  /** Makes the writer check its files: it saves a lost log and closes stale files. */
  checkWriter: () => Promise<unknown>
  /** Verifies that the database is corrupt. */
  verify: (failure: Failure) => Promise<Failure>
  /** Called with a sentence for the operator. */
  onWarning: (message: string) => void
}

/**
 * Reads on the event loop, on a connection that cannot write. In WAL mode readers rarely wait for a lock. If the file is
 * replaced, the reader opens the new one. If the file is deleted, it continues to read the open one.
 */
export class Reader {
  readonly #path: string
  readonly #events: ReaderEvents
  #file: OpenFile<Reads>
  #header: HeaderWatch
  /** Stays set until the process ends, because SQLite's cache and log no longer belong to the file. */
  #overwritten: DatabaseOverwritten | undefined
  /** The number of files that were opened before this one. Each counts its changes from the beginning. */
  #generation = 0
  #revision: number | undefined
  #isRevisionKnown = false
  readonly #checks: NodeJS.Timeout
  #isClosed = false
  #recovery: Promise<boolean> | undefined

  constructor(path: string, events: ReaderEvents) {
    this.#path = path
    this.#events = events
    const file = new OpenFile(path, { readonly: true, prepare: prepareReads })
    this.#header = orClose(file, () => new HeaderWatch(path))
    this.#file = file
    this.#checks = setInterval(() => void this.#recover(), checkInterval).unref()
  }

  async run<T>(read: (reads: Reads) => T): Promise<T> {
    let hasRecovered = false
    let hasRepeated = false
    for (const deadline = performance.now() + busyTimeout; ; ) {
      try {
        if (this.#overwritten) throw this.#overwritten
        return read(this.#file.statements)
      } catch (error) {
        const failure = this.#file.connection.open ? toFailure(error) : closedFile
        if (isBusy(failure) && performance.now() < deadline) {
          await wait(busyPause)
        } else if (!hasRecovered && concernsDatabase(failure) && (await this.#recover())) {
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

  /** Call it after the writer is closed: see {@link HeaderWatch}. */
  closeHeader(): void {
    this.#header.close()
  }

  /** The next read opens the file again. */
  closeFile(): void {
    this.#file.close()
  }

  close(): void {
    clearInterval(this.#checks)
    this.#isClosed = true
    this.closeFile()
  }

  /** Checks the files and opens them again if they have changed. Resolves to whether it did. */
  #recover(): Promise<boolean> {
    this.#recovery ??= this.#recoverOnce().finally(() => (this.#recovery = undefined))
    return this.#recovery
  }

  async #recoverOnce(): Promise<boolean> {
    const problem = this.#file.connection.open ? this.#findProblem() : closedFile
    if (problem === undefined || this.#overwritten) return false
    await this.#events.checkWriter().catch(() => {})
    // The writer closes first: if the last connection to close can write, SQLite moves the log into the database by the
    // index of this process, which is stale.
    if (problem instanceof StaleFiles) this.closeFile()
    return !this.#isClosed && this.#reopen()
  }

  #findProblem(): unknown {
    try {
      this.#file.checkPlace()
      this.checkHeader()
      // Stores the read mark for commits of other processes. On a frozen file system a read would block there (LogWatch).
      this.#queryRevision()
      return undefined
    } catch (error) {
      return error
    }
  }

  #reopen(): boolean {
    try {
      const next = this.#file.reopen()
      orClose(next, () => this.#watchHeader())
      this.#file.close()
      this.#file = next
      this.#generation++
      return true
    } catch {
      // The file at the path cannot be read. Writes report it, and reads continue on the open file.
      return false
    }
  }

  #watchHeader(): void {
    if (this.#header.isFor(this.#path)) return
    this.#events.onWarning('The database was replaced by another one. The service uses the new one from now on.')
    const next = new HeaderWatch(this.#path)
    this.#header.close()
    this.#header = next
  }
}
