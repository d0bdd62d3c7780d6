/** A source of values with a version counter. It is undefined while the source cannot tell whether it has changed. */
interface Versioned {
  revision(): number | undefined
}

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
  lookups?: CacheLookups | undefined
}

/** Keeps values that were read from a source until its revision changes. Without a revision it keeps nothing. */
export class RevisionCache<T extends object> {
  readonly #source: Versioned
  readonly #capacity: number
  readonly #weightOf: (key: string, value: T) => number
  readonly #lookups: CacheLookups
  readonly #values = new Map<string, T>()
  #weight = 0
  #revision: number | undefined

  constructor(source: Versioned, { capacity, weightOf = () => 1, lookups = { hits: 0, misses: 0 } }: Options<T>) {
    this.#source = source
    this.#capacity = capacity
    this.#weightOf = weightOf
    this.#lookups = lookups
  }

  get(key: string): T | undefined {
    const revision = this.#source.revision()
    if (revision !== this.#revision) this.#clear()
    this.#revision = revision
    const value = this.#values.get(key)
    if (value) this.#lookups.hits++
    return value
  }

  /** Returns the kept value, or else reads it, and keeps it if `mayKeep` allows it. */
  async load<Value extends T | undefined>(
    key: string,
    read: () => Promise<Value>,
    mayKeep: (value: T) => boolean = () => true,
  ): Promise<T | Value> {
    const kept = this.get(key)
    if (kept) return kept
    this.#lookups.misses++
    // The revision before the read: a change during the read makes the value outdated.
    const revision = this.#revision
    const value = await read()
    if (value && revision !== undefined && this.#revision === revision && mayKeep(value)) this.#keep(key, value)
    return value
  }

  #keep(key: string, value: T): void {
    const weight = this.#weightOf(key, value)
    if (weight > this.#capacity / 30) return
    if (this.#weight + weight > this.#capacity) this.#clear()
    this.#weight += this.#values.has(key) ? 0 : weight
    this.#values.set(key, value)
  }

  #clear(): void {
    this.#values.clear()
    this.#weight = 0
  }
}
