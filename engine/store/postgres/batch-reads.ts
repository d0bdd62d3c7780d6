/** The maximum number of different reads that share a statement. It bounds the rows in memory. */
const maxBatch = 100
/** Milliseconds for which reads wait for a statement. */
const maxWait = 250

/**
 * Batches concurrent reads. Reads that arrive while a statement runs wait and share the next one, in which equal reads count
 * once. A full batch does not wait, and no read waits for longer than `maxWait`, in case the connection of the statement
 * hangs. No read shares a statement that began before it, so every result is as fresh as that of a statement of its own.
 *
 * @param keyOf equal for equal queries
 * @param read resolves to the results by key. If it rejects, all reads of the batch reject.
 */
export function batchReads<Query, Key, T>(
  keyOf: (query: Query) => Key,
  read: (queries: Query[]) => Promise<Map<Key, T>>,
): (query: Query) => Promise<T | undefined> {
  interface Batch {
    queries: Map<Key, Query>
    results: PromiseWithResolvers<Map<Key, T>>
    timer?: NodeJS.Timeout
  }

  let waiting: Batch = newBatch()
  /** The start of the latest statement, while it runs. */
  let startedAt: number | undefined

  function newBatch(): Batch {
    return { queries: new Map<Key, Query>(), results: Promise.withResolvers<Map<Key, T>>() }
  }

  function start(): void {
    const { queries, results, timer } = waiting
    clearTimeout(timer)
    const at = performance.now()
    waiting = newBatch()
    startedAt = at
    results.resolve(
      read([...queries.values()]).finally(() => {
        if (startedAt !== at) return
        startedAt = undefined
        if (waiting.queries.size > 0) start()
      }),
    )
  }

  return async (query) => {
    const batch = waiting
    const { queries, results } = batch
    const key = keyOf(query)
    queries.set(key, query)
    const mustWait = startedAt !== undefined && performance.now() - startedAt < maxWait
    if (!mustWait || queries.size === maxBatch) start()
    // The statement that runs may turn out to hang.
    else batch.timer ??= setTimeout(start, maxWait)
    return (await results.promise).get(key)
  }
}
