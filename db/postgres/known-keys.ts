import type { ApiKey } from '../store.ts'
import { KeyChanges } from './key-changes.ts'
import { shareReadings } from './share-readings.ts'

/** Milliseconds, for the case that a connection has died without a word and changes are not heard of. */
const longestKept = 2_000
const mostKept = 1_000

/**
 * Remembers API keys until one of them changes, on this instance or another, and never for longer than two seconds.
 * While changes cannot be heard of, each key is looked up anew.
 */
export class KnownKeys {
  readonly #known = new Map<string, { key: ApiKey; until: number }>()
  readonly #read: (hash: string) => Promise<ApiKey | undefined>
  readonly #changes: KeyChanges
  #generation = 0

  constructor(url: string, read: (hash: string) => Promise<ApiKey | undefined>) {
    this.#read = shareReadings((hash) => hash, read)
    this.#changes = new KeyChanges(url, () => this.forget())
  }

  async find(hash: string): Promise<ApiKey | undefined> {
    this.#changes.start()
    const known = this.#known.get(hash)
    if (known && known.until > performance.now()) return known.key
    const generation = this.#generation
    const until = performance.now() + longestKept
    const key = await this.#read(hash)
    if (key && this.#changes.isListening && generation === this.#generation) this.#keep(hash, key, until)
    return key
  }

  forget(): void {
    this.#generation++
    this.#known.clear()
  }

  close(): Promise<void> {
    return this.#changes.close()
  }

  #keep(hash: string, key: ApiKey, until: number): void {
    if (this.#known.size >= mostKept) this.#known.clear()
    this.#known.set(hash, { key, until })
  }
}
