import type { Store } from '../db/store.ts'
import { RevisionCache } from './revision-cache.ts'

/** What a door answers with. */
export interface Answer {
  status: number
  headers: Record<string, string>
  body: string
}

/** In characters, of answers and of the URLs they answer: 4 MB at most. */
const mostKept = 2_000_000

/** Answers to queries, by URL, for as long as nothing changes. They must be the same for every API key. */
export function answerCache(store: Store): RevisionCache<Answer> {
  return new RevisionCache(store, { capacity: mostKept, weightOf: (url, { body }) => url.length + body.length })
}
