/**
 * Coalesces concurrent reads of the same key (singleflight). A call during a read does not share that read, which may
 * already be out of date, but the next one. So every result is as fresh as that of a read of its own.
 */
export function coalesceReads<Query, T>(
  keyOf: (query: Query) => string,
  read: (query: Query) => Promise<T>,
): (query: Query) => Promise<T> {
  const running = new Map<string, Promise<void>>()
  const next = new Map<string, Promise<T>>()

  function start(key: string, query: Query): Promise<T> {
    next.delete(key)
    const result = read(query)
    const end = () => void running.delete(key)
    running.set(key, result.then(end, end))
    return result
  }

  return (query) => {
    const key = keyOf(query)
    const current = running.get(key)
    if (!current) return start(key, query)
    const shared = next.get(key) ?? current.then(() => start(key, query))
    next.set(key, shared)
    return shared
  }
}
