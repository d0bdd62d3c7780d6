import { Counter, type Registry } from '@prometheus-io/client'
import type { CacheLookups } from '../cache/revision-cache.ts'

export class CacheMetrics {
  /** Each cache counts its lookups here. */
  readonly lookups = {
    rest_responses: { hits: 0, misses: 0 },
    rpc_responses: { hits: 0, misses: 0 },
    api_keys: { hits: 0, misses: 0 },
  } satisfies Record<string, CacheLookups>
  readonly #hits: Counter<'cache'>
  readonly #misses: Counter<'cache'>

  constructor(registry: Registry) {
    const options = { labelNames: ['cache'] as const, registers: [registry] }
    this.#hits = new Counter({
      name: 'petstore_cache_hits_total',
      help: 'Lookups whose value the cache had.',
      ...options,
    })
    this.#misses = new Counter({
      name: 'petstore_cache_misses_total',
      help: 'Lookups of a cacheable value that read the store.',
      ...options,
    })
  }

  update(): void {
    this.#hits.reset()
    this.#misses.reset()
    for (const [cache, { hits, misses }] of Object.entries(this.lookups)) {
      this.#hits.inc({ cache }, hits)
      this.#misses.inc({ cache }, misses)
    }
  }
}
