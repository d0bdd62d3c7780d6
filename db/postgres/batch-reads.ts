/** The maximum number of different reads that share a statement. It bounds the rows in memory. */
const maxBatch = 100

/**
 * Batches concurrent reads. Reads that arrive while a statement runs wait and share the next one, in which equal reads
 * count once. A full batch does not wait. No read shares a statement that began before the read, so every result is as
 * fresh as that of a statement of its own.
 *
 * @param keyOf equal for equal queries
 * @param read resolves to the results by key. If it rejects, all reads of the batch reject.
 * @returns a function that resolves to the result of its query, or to undefined without one
 */
export function batchReads<Query, Key, T>(
  keyOf: (query: Query) => Key,
  read: (queries: Query[]) => Promise<Map<Key, T>>,
): (query: Query) => Promise<T | undefined> {
  let waiting = newBatch()
  let running = 0

  function newBatch() {
    return { queries: new Map<Key, Query>(), results: Promise.withResolvers<Map<Key, T>>() }
  }

  function start(): void {
    const { queries, results } = waiting
    waiting = newBatch()
    running++
    results.resolve(read([...queries.values()]).finally(end))
  }

  function end(): void {
    running--
    if (running === 0 && waiting.queries.size > 0) start()
  }

  return async (query) => {
    const { queries, results } = waiting
    const key = keyOf(query)
    queries.set(key, query)
    if (running === 0 || queries.size === maxBatch) start()
    return (await results.promise).get(key)
  }
}
