import type { StoreObserver } from '../collection/base-store.ts'
import { ClosedStore, StoreUnavailable, tooManyWrites, writeFailureOf } from '../collection/errors.ts'

/** The maximum number of waiting writes. A longer queue would mean that the database hangs, so further writes fail. */
const maxWaiting = 10_000

/**
 * The maximum number of writes in a transaction. Updates of one row run one after the other, and a connection ends that is in
 * use for too long.
 */
const maxBatch = 200

export type Outcome<T> = { value: T } | { error: Error }

/**
 * Group commit: writes that arrive while a batch is being committed form the next one, so one fsync serves them all.
 *
 * @param commit resolves to an outcome for each write once the batch is on disk. If it rejects, all writes fail.
 */
export function groupCommit<Write, T>(commit: (batch: Write[]) => Promise<Outcome<T>[]>, observer?: StoreObserver) {
  interface Pending extends PromiseWithResolvers<T> {
    write: Write
  }

  const waiting: Pending[] = []
  let committing: Promise<void> | undefined
  let isClosed = false
  let batchSize = 0

  async function commitAll(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.splice(0, maxBatch)
      batchSize = batch.length
      await commitBatch(batch)
      batchSize = 0
    }
    committing = undefined
  }

  async function commitBatch(batch: Pending[]): Promise<void> {
    const startedAt = performance.now()
    const failAll = (error: Error): Outcome<T>[] => batch.map(() => ({ error }))
    const outcomes = await commit(batch.map(({ write }) => write)).catch(failAll)
    const committed = outcomes.filter((outcome) => 'value' in outcome).length
    if (committed > 0) observer?.transactionCommitted?.(committed, { startedAt, committedAt: performance.now() })
    for (const [index, pending] of batch.entries()) {
      const outcome = outcomes[index] ?? { error: new Error('A write of the batch has no outcome.') }
      if ('error' in outcome) refuse(pending, outcome.error)
      else pending.resolve(outcome.value)
    }
  }

  function refuse({ reject }: Pending, error: Error): void {
    reject(error)
    observer?.writeFailed?.(writeFailureOf(error))
  }

  return {
    run(write: Write): Promise<T> {
      const pending = { write, ...Promise.withResolvers<T>() }
      if (isClosed) refuse(pending, new ClosedStore())
      else if (waiting.length >= maxWaiting)
        refuse(pending, new StoreUnavailable(tooManyWrites, { failure: 'queue_full' }))
      else {
        waiting.push(pending)
        committing ??= commitAll()
      }
      return pending.promise
    },
    /** The number of writes that wait or are being committed. */
    get queued() {
      return waiting.length + batchSize
    },
    /** Refuses further writes and waits for those that were accepted. */
    async close(): Promise<void> {
      isClosed = true
      await committing
    },
  }
}
