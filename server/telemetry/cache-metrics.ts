import type { CacheLookups } from '../cache/revision-cache.ts'
import type { MetricFactory } from './metric-factory.ts'

/** Returns the object in which each cache counts its lookups. */
export function cacheMetrics({ counter }: MetricFactory) {
  const lookups = {
    rest_responses: { hits: 0, misses: 0 },
    rpc_responses: { hits: 0, misses: 0 },
    api_keys: { hits: 0, misses: 0 },
  } satisfies Record<string, CacheLookups>
  const addCounter = (count: keyof CacheLookups, help: string) =>
    counter(
      `petstore_cache_${count}_total`,
      help,
      () => Object.entries(lookups).map(([cache, counts]) => [{ cache }, counts[count]]),
      ['cache'],
    )
  addCounter('hits', 'Lookups whose value the cache had.')
  addCounter('misses', 'Lookups of a cacheable value that read the store.')
  return lookups
}
