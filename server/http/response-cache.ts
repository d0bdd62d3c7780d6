import type { Store } from '../../db/store.ts'
import { RevisionCache } from '../api/revision-cache.ts'

export interface CacheableResponse {
  status: number
  headers: Record<string, string>
  body: string
}

/** Capacity in characters of URLs and bodies, which is 4 MB at most. */
const capacity = 2_000_000

/** Caches responses by URL until the store changes. */
export function responseCache(store: Store): RevisionCache<CacheableResponse> {
  return new RevisionCache(store, { capacity, weightOf: (url, { body }) => url.length + body.length })
}
