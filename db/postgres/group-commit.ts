import { StoreUnavailable } from '../store.ts'

/** The maximum number of waiting writes. A longer queue would mean that the database hangs, so further writes fail. */
const maxWaiting = 10_000

/** The result of one write of a batch. */
export type Outcome<T> = { value: T } | { error: Error }

interface Pending<Write, T> {
  write: Write
  resolve: (value: T) => void
  reject: (error: Error) => void
}

/**
 * Group commit: writes that arrive while a batch is being committed wait and form the next batch, so one fsync serves
 * them all. Batches are committed one at a time.
 */
export class GroupCommit<Write, T> {
  readonly #commit: (batch: Write[]) => Promise<Outcome<T>[]>
  #waiting: Pending<Write, T>[] = []
  #committing: Promise<void> | undefined
  #isClosed = false

  /** @param commit resolves to an outcome for each write once the batch is on disk. If it rejects, all writes fail. */
  constructor(commit: (batch: Write[]) => Promise<Outcome<T>[]>) {
    this.#commit = commit
  }

  run(write: Write): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) return reject(new StoreUnavailable('The store is closed.'))
      if (this.#waiting.length >= maxWaiting) return reject(new StoreUnavailable('Too many writes are waiting.'))
      this.#waiting.push({ write, resolve, reject })
      this.#committing ??= this.#commitAll()
    })
  }

  /** Refuses further writes and waits for those that were accepted. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#committing
  }

  async #commitAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting
      this.#waiting = []
      await this.#commitBatch(batch)
    }
    this.#committing = undefined
  }

  async #commitBatch(batch: Pending<Write, T>[]): Promise<void> {
    const outcomes = await this.#commit(batch.map(({ write }) => write)).catch((error: Error) => error)
    for (const [index, { resolve, reject }] of batch.entries()) {
      const outcome = outcomes instanceof Error ? { error: outcomes } : outcomes[index]
      if (outcome === undefined) reject(new Error('A write of the batch has no outcome.'))
      else if ('error' in outcome) reject(outcome.error)
      else resolve(outcome.value)
    }
  }
}
