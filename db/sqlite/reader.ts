import { setTimeout as wait } from 'node:timers/promises'
import { orClose } from './connection.ts'
import { isBusy, storeError, toFailure } from './failure.ts'
import { OpenFile } from './open-file.ts'
import { prepareReads, type Reads } from './reads.ts'

/** How often to look, in milliseconds, whether the file is still in its place. */
const watchInterval = 1_000
/** Milliseconds, for a turn of the event loop that takes in requests for longer. */
const longestSnapshot = 1
const busyPatience = 200
const busyPause = 5

/**
 * Reads on the event loop, on a connection that cannot write and, in WAL mode, hardly ever meets a lock. If the file is
 * replaced by another it follows; if the file is gone it goes on with the one it has.
 *
 * What is read in one turn of the event loop is read from one snapshot: SQLite's locks, which cost more than finding a
 * row, are taken once for all of it. A request that comes after a change is read in a later turn; no snapshot is older than
 * a millisecond when it is read from.
 */
export class Reader {
  #file: OpenFile
  #reads: Reads
  #takenAt = 0
  /** Of how many files it has read before this one, each of which counts its changes for itself. */
  #predecessors = 0
  readonly #watch: NodeJS.Timeout

  constructor(path: string) {
    this.#file = new OpenFile(path, { readonly: true })
    this.#reads = prepareReads(this.#file.connection)
    this.#watch = setInterval(() => this.#follow(), watchInterval).unref()
  }

  async run<T>(read: (reads: Reads) => T): Promise<T> {
    for (const deadline = performance.now() + busyPatience; ; await wait(busyPause)) {
      try {
        this.#takeSnapshot()
        return read(this.#reads)
      } catch (error) {
        const failure = toFailure(error)
        if (!isBusy(failure) || performance.now() >= deadline) throw storeError(failure)
      }
    }
  }

  /** Every write comes through another connection, so that SQLite counts it as a change. */
  revision(): number | undefined {
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

  close(): void {
    clearInterval(this.#watch)
    this.dropSnapshot()
    this.#file.close()
  }

  #takeSnapshot(): void {
    const now = performance.now()
    if (now - this.#takenAt > longestSnapshot) this.dropSnapshot()
    if (this.#file.connection.inTransaction) return
    this.#reads.begin()
    this.#takenAt = now
    setImmediate(() => this.dropSnapshot())
  }

  #follow(): void {
    try {
      this.#file.checkPlace()
      // Stores the read mark of other processes' commits, which no read can do while the file system is frozen (LogWatch).
      this.revision()
    } catch {
      this.#reopen()
    }
  }

  #reopen(): void {
    try {
      const next = this.#file.reopen()
      const reads = orClose(next, () => prepareReads(next.connection))
      this.dropSnapshot()
      this.#file.close()
      this.#file = next
      this.#reads = reads
      this.#predecessors++
    } catch {
      // What is at the path cannot be read. Writes tell of it, and reads go on where they can.
    }
  }
}
