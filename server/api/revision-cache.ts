import type { Store } from '../../db/store.ts'

interface Limits<T> {
  /** How much may be kept; with more, all is forgotten. */
  capacity: number
  /** What a value takes of the capacity, 1 by default. One that takes more than a thirtieth is not kept. */
  weightOf?: (key: string, value: T) => number
}

/** Remembers what was read from the store until the store changes, whoever changes it: the next `load` reads anew. */
export class RevisionCache<T extends object> {
  readonly #store: Store
  readonly #capacity: number
  readonly #weightOf: (key: string, value: T) => number
  readonly #values = new Map<string, T>()
  #weight = 0
  #revision: number | undefined

  constructor(store: Store, { capacity, weightOf = () => 1 }: Limits<T>) {
    this.#store = store
    this.#capacity = capacity
    this.#weightOf = weightOf
  }

  /** What was read under this key, unless the store has changed since. */
  get(key: string): T | undefined {
    const revision = this.#store.revision()
    if (revision === undefined || revision !== this.#revision) this.#clear()
    this.#revision = revision
    return this.#values.get(key)
  }

  /** The same, or else what `read` resolves to now, which is kept if `mayKeep` allows it. */
  async load<Value extends T | undefined>(
    key: string,
    read: () => Promise<Value>,
    mayKeep: (value: T) => boolean = () => true,
  ): Promise<T | Value> {
    const known = this.get(key)
    if (known) return known
    const revision = this.#revision
    const value = await read()
    // It is of the revision that was seen before the reading, or newer.
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
