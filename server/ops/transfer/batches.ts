import { StoreUnavailable } from '../../../db/store.ts'
import { OperatorError } from '../operator-error.ts'

/** Creates in flight. They share a few transactions. More would hold the write lock of SQLite for longer. */
const batchSize = 500

interface BatchOptions {
  /** Called with the number of items that are created. */
  onProgress?: ((done: number) => void) | undefined
  /** Says what is stored if the work stops early, and what to do. */
  outcome: (done: number) => string
}

/**
 * Creates all items in their order, one batch after the other. Between two batches other processes get the write lock.
 *
 * @returns the number of items.
 * @throws {OperatorError} if the store or the source of the items fails.
 */
export async function createBatches<T>(
  items: AsyncIterable<T[]> | Iterable<T[]>,
  create: (item: T) => Promise<unknown>,
  { onProgress, outcome }: BatchOptions,
): Promise<number> {
  let done = 0
  try {
    for await (const group of items) {
      for (let start = 0; start < group.length; start += batchSize) {
        const batch = group.slice(start, start + batchSize)
        // Waits for all of them, so that the outcome is complete.
        const results = await Promise.allSettled(batch.map(create))
        done += results.filter(({ status }) => status === 'fulfilled').length
        for (const result of results) if (result.status === 'rejected') throw result.reason
        onProgress?.(done)
      }
    }
    return done
  } catch (error) {
    if (!(error instanceof StoreUnavailable || error instanceof OperatorError)) throw error
    throw new OperatorError(`${error.message.replace(/\.?$/, '.')} ${outcome(done)}`, { cause: error })
  }
}
