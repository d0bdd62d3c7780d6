import { setTimeout as wait } from 'node:timers/promises'
import { orClose } from './connection.ts'
import { isBusy, storeError, toFailure } from './failure.ts'
import { OpenFile } from './open-file.ts'
import { prepareReads, type Reads } from './reads.ts'

/** How often to look, in milliseconds, whether the file is still in its place. */
const watchInterval = 1_000
const busyPatience = 200
const busyPause = 5

/**
 * Reads on the event loop, on a connection that cannot write and, in WAL mode, hardly ever meets a lock. If the file is
 * replaced by another it follows; if the file is gone it goes on with the one it has.
 */
export class Reader {
  #file: OpenFile
  #reads: Reads
  readonly #watch: NodeJS.Timeout

  constructor(path: string) {
    this.#file = new OpenFile(path, { readonly: true })
    this.#reads = prepareReads(this.#file.connection)
    this.#watch = setInterval(() => this.#follow(), watchInterval).unref()
  }

  async run<T>(read: (reads: Reads) => T): Promise<T> {
    for (const deadline = performance.now() + busyPatience; ; await wait(busyPause)) {
      try {
        return read(this.#reads)
      } catch (error) {
        const failure = toFailure(error)
        if (!isBusy(failure) || performance.now() >= deadline) throw storeError(failure)
      }
    }
  }

  close(): void {
    clearInterval(this.#watch)
    this.#file.close()
  }

  #follow(): void {
    try {
      this.#file.checkPlace()
    } catch {
      this.#reopen()
    }
  }

  #reopen(): void {
    try {
      const next = this.#file.reopen()
      this.#reads = orClose(next, () => prepareReads(next.connection))
      this.#file.close()
      this.#file = next
    } catch {
      // What is at the path cannot be read. Writes tell of it, and reads go on where they can.
    }
  }
}
