import type { StoreObserver } from '../collection/base-store.ts'
import { ClosedStore, StoreUnavailable, tooManyWrites, writeFailureOf } from '../collection/errors.ts'

/** The maximum number of waiting writes. A longer queue would mean that the database hangs, so further writes fail. */
const maxWaiting = 10_000

export type Outcome<T> = { value: T } | { error: Error }

interface Pending<Write, T> {
  write: Write
  resolve: (value: T) => void
  reject: (error: Error) => void
}

/** Group commit: writes that arrive while a batch is being committed form the next one, so one fsync serves them all. */
export class GroupCommit<Write, T> {
  readonly #commit: (batch: Write[]) => Promise<Outcome<T>[]>
  readonly #observer: StoreObserver | undefined
  #waiting: Pending<Write, T>[] = []
  #committing: Promise<void> | undefined
  #isClosed = false
  #batchSize = 0

  /** @param commit resolves to an outcome for each write once the batch is on disk. If it rejects, all writes fail. */
  constructor(commit: (batch: Write[]) => Promise<Outcome<T>[]>, observer?: StoreObserver) {
    this.#commit = commit
    this.#observer = observer
  }

  run(write: Write): Promise<T> {
    return new Promise((resolve, reject) => {
      const pending = { write, resolve, reject }
      if (this.#isClosed) return this.#reject(pending, new ClosedStore())
      if (this.#waiting.length >= maxWaiting)
        return this.#reject(pending, new StoreUnavailable(tooManyWrites, { failure: 'queue_full' }))
      this.#waiting.push(pending)
      this.#committing ??= this.#commitAll()
    })
  }

  /** The number of writes that wait or are being committed. */
  get queued(): number {
    return this.#waiting.length + this.#batchSize
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
      this.#batchSize = batch.length
      await this.#commitBatch(batch)
      this.#batchSize = 0
    }
    this.#committing = undefined
  }

  async #commitBatch(batch: Pending<Write, T>[]): Promise<void> {
    const startedAt = performance.now()
    const outcomes = await this.#commit(batch.map(({ write }) => write)).catch((error: Error) => error)
    const times = { startedAt, committedAt: performance.now() }
    const committed = Array.isArray(outcomes) ? outcomes.filter((outcome) => 'value' in outcome).length : 0
    if (committed > 0) this.#observer?.transactionCommitted?.(committed, times)
    for (const [index, pending] of batch.entries()) {
      const outcome = outcomes instanceof Error ? { error: outcomes } : outcomes[index]
      if (outcome === undefined) this.#reject(pending, new Error('A write of the batch has no outcome.'))
      else if ('error' in outcome) this.#reject(pending, outcome.error)
      else pending.resolve(outcome.value)
    }
  }

  #reject({ reject }: Pending<Write, T>, error: Error): void {
    reject(error)
    this.#observer?.writeFailed?.(writeFailureOf(error))
  }
}
