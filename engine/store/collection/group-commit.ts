import type { StoreObserver, TransactionTimes } from './base-store.ts'
import { ClosedStore, StoreUnavailable, writeFailureOf } from './errors.ts'

/** The maximum number of waiting writes. A longer queue would mean that the database hangs, so further writes fail. */
const maxWaiting = 10_000

const tooManyWrites =
  'Too many writes wait for the database. Check how fast its disk is, and send fewer writes at once.'

export type Outcome<T> = { value: T } | { error: Error }

/** An outcome for each write of a batch, and the times of its transaction, by default those of the call. */
export interface Committed<T> {
  outcomes: Outcome<T>[]
  times?: TransactionTimes | undefined
}

/**
 * Group commit: writes that arrive while a batch is being committed form the next one, so one fsync serves them all.
 *
 * @param commit resolves once the batch is on disk. If it rejects, all its writes fail.
 */
export function groupCommit<Write, T>(
  commit: (batch: Write[]) => Promise<Committed<T>>,
  { observer, maxBatch = maxWaiting }: { observer?: StoreObserver | undefined; maxBatch?: number } = {},
) {
  interface Pending extends PromiseWithResolvers<T> {
    write: Write
  }

  const waiting: Pending[] = []
  let committing: Promise<void> | undefined
  let isClosed = false
  let batchSize = 0

  async function commitAll(): Promise<void> {
    // So that the first batch has all calls without a pause in between.
    await undefined
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
    const failAll = (error: Error): Committed<T> => ({ outcomes: batch.map(() => ({ error })) })
    const { outcomes, times } = await commit(batch.map(({ write }) => write)).catch(failAll)
    const committed = outcomes.filter((outcome) => 'value' in outcome).length
    if (committed > 0)
      observer?.transactionCommitted?.(committed, times ?? { startedAt, committedAt: performance.now() })
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
