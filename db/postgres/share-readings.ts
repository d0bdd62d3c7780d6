/**
 * Lets all who ask for the same while it is being read share the next reading, so that each answer is as fresh as if
 * its asker had read alone, and a crowd reads as often as one.
 */
export function shareReadings<Query, T>(
  keyOf: (query: Query) => string,
  read: (query: Query) => Promise<T>,
): (query: Query) => Promise<T> {
  const underWay = new Map<string, Promise<void>>()
  const next = new Map<string, Promise<T>>()

  function begin(key: string, query: Query): Promise<T> {
    next.delete(key)
    const reading = read(query)
    const end = () => void underWay.delete(key)
    underWay.set(key, reading.then(end, end))
    return reading
  }

  return (query) => {
    const key = keyOf(query)
    const before = underWay.get(key)
    if (!before) return begin(key, query)
    const shared = next.get(key) ?? before.then(() => begin(key, query))
    next.set(key, shared)
    return shared
  }
}
