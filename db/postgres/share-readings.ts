/**
 * Lets all who ask for the same while it is being read share the next reading, so that each answer is as fresh as if
 * its asker had read alone, and a crowd reads as often as one.
 */
export function shareReadings<T>(read: (key: string) => Promise<T>): (key: string) => Promise<T> {
  const underWay = new Map<string, Promise<void>>()
  const next = new Map<string, Promise<T>>()

  function begin(key: string): Promise<T> {
    next.delete(key)
    const reading = read(key)
    const end = () => void underWay.delete(key)
    underWay.set(key, reading.then(end, end))
    return reading
  }

  return (key) => {
    const before = underWay.get(key)
    if (!before) return begin(key)
    const shared = next.get(key) ?? before.then(() => begin(key))
    next.set(key, shared)
    return shared
  }
}
