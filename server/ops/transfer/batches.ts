import { StoreUnavailable } from '../../../db/store.ts'
import { count } from '../count.ts'
import { OperatorError } from '../operator-error.ts'
import type { Noun } from './resource.ts'

/**
 * Creates in flight. They share a few transactions. More would hold the write lock of SQLite for longer, for which a
 * service on the same database waits at most 200 ms.
 */
const batchSize = 500

interface BatchOptions {
  noun: Noun
  /** Called with the number of items that are created. */
  onProgress?: ((done: number) => void) | undefined
  /** What to do if the store fails meanwhile: a sentence for the operator. */
  advice: string
}

/**
 * Creates all items in their order, one batch after the other. Between two batches other processes get the write lock.
 *
 * @throws {OperatorError} if the store fails.
 */
export async function createBatches<T>(
  items: AsyncIterable<T[]> | Iterable<T[]>,
  create: (item: T) => Promise<unknown>,
  { noun, onProgress, advice }: BatchOptions,
): Promise<void> {
  let done = 0
  try {
    for await (const group of items) {
      for (let start = 0; start < group.length; start += batchSize) {
        const batch = group.slice(start, start + batchSize)
        await Promise.all(batch.map(create))
        done += batch.length
        onProgress?.(done)
      }
    }
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error
    const reason = error.message.replace(/\.$/, '')
    throw new OperatorError(`Stopped after ${count(done, noun.name, noun.plural)}: ${reason}. ${advice}`, {
      cause: error,
    })
  }
}
