import type { Store } from '../db/store.ts'

/** Remembers what was read from the store until the store changes, whoever changes it: the next `load` reads anew. */
export class RevisionCache<T extends object> {
  readonly #store: Store
  readonly #capacity: number
  readonly #values = new Map<string, T>()
  #revision: number | undefined

  /** @param capacity how many values there may be; with one more, all are forgotten */
  constructor(store: Store, capacity: number) {
    this.#store = store
    this.#capacity = capacity
  }

  /** What was read under this key, unless the store has changed since. */
  get(key: string): T | undefined {
    this.#forgetChanged()
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

  #forgetChanged(): void {
    const revision = this.#store.revision()
    if (revision === undefined || revision !== this.#revision) this.#values.clear()
    this.#revision = revision
  }

  #keep(key: string, value: T): void {
    if (this.#values.size >= this.#capacity) this.#values.clear()
    this.#values.set(key, value)
  }
}
