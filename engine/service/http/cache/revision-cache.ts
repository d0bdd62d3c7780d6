/** How often a cache had a value, and how often the value was read from the source. */
export interface CacheLookups {
  hits: number
  misses: number
}

interface Options<T> {
  /** The total weight. A value that would exceed it clears the cache. */
  capacity: number
  /** 1 by default. A value of more than a thirtieth of the capacity is not kept. */
  weightOf?: (key: string, value: T) => number
  lookups: CacheLookups
}

/**
 * Keeps values that were read from a source until its revision changes. It keeps nothing while the revision is undefined,
 * because the source cannot tell whether it has changed.
 */
export function revisionCache<T extends object>(
  source: { revision(): number | undefined },
  { capacity, weightOf = () => 1, lookups }: Options<T>,
) {
  const values = new Map<string, T>()
  let weight = 0
  let revision: number | undefined

  function get(key: string): T | undefined {
    const current = source.revision()
    if (current !== revision) clear()
    revision = current
    const value = values.get(key)
    if (value) lookups.hits++
    return value
  }

  /** Returns the kept value, or else reads it, and keeps it if `mayKeep` allows it. */
  async function load<Value extends T | undefined>(
    key: string,
    read: () => Promise<Value>,
    mayKeep: (value: T) => boolean = () => true,
  ): Promise<T | Value> {
    const kept = get(key)
    if (kept) return kept
    lookups.misses++
    // The revision before the read: a change during the read makes the value outdated.
    const before = revision
    const value = await read()
    if (value && before !== undefined && revision === before && mayKeep(value)) keep(key, value)
    return value
  }

  function keep(key: string, value: T): void {
    const added = weightOf(key, value)
    if (added > capacity / 30) return
    if (weight + added > capacity) clear()
    weight += values.has(key) ? 0 : added
    values.set(key, value)
  }

  function clear(): void {
    values.clear()
    weight = 0
  }

  return { get, load }
}
