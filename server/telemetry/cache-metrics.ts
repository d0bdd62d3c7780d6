import { Counter, type Registry } from '@prometheus-io/client'
import type { CacheLookups } from '../cache/revision-cache.ts'

/** Returns the object in which each cache counts its lookups. */
export function cacheMetrics(registry: Registry) {
  const lookups = {
    rest_responses: { hits: 0, misses: 0 },
    rpc_responses: { hits: 0, misses: 0 },
    api_keys: { hits: 0, misses: 0 },
  } satisfies Record<string, CacheLookups>
  const addCounter = (count: keyof CacheLookups, help: string) =>
    new Counter({
      name: `petstore_cache_${count}_total`,
      help,
      labelNames: ['cache'],
      registers: [registry],
      collect() {
        this.reset()
        for (const [cache, counts] of Object.entries(lookups)) this.inc({ cache }, counts[count])
      },
    })
  addCounter('hits', 'Lookups whose value the cache had.')
  addCounter('misses', 'Lookups of a cacheable value that read the store.')
  return lookups
}
