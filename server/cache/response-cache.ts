import type { BaseStore } from '../../db/store.ts'
import { type CacheLookups, RevisionCache } from './revision-cache.ts'

export interface CacheableResponse {
  status: number
  headers: Record<string, string>
  body: string
}

/** Capacity in characters of URLs and bodies, which is 4 MB at most. */
const capacity = 2_000_000
/** URLs that are remembered because they were requested once, which are 4 MB at most. */
const maxRequested = 500

/** Returns the cached response to a URL, or else the one that `respond` makes. */
export type ResponseCache = (url: string, respond: () => Promise<CacheableResponse>) => Promise<CacheableResponse>

/**
 * Caches successful responses by URL until the store changes, from the second request for a URL on. Keeping pages that are
 * requested once would cost more than it saves, because the garbage collector has to move and free them.
 */
export function responseCache(store: BaseStore, lookups?: CacheLookups): ResponseCache {
  const cache = new RevisionCache<CacheableResponse>(store, {
    capacity,
    weightOf: (url, { body }) => url.length + body.length,
    lookups,
  })
  const requested = new Set<string>()

  function isRepeated(url: string): boolean {
    if (requested.has(url)) return true
    if (requested.size >= maxRequested) requested.clear()
    requested.add(url)
    return false
  }

  return (url, respond) => cache.load(url, respond, ({ status }) => status === 200 && isRepeated(url))
}
