import type { AnyProcedure, AnyRouter } from '@trpc/server'
import type { Store } from '../../db/store.ts'
import { RevisionCache } from '../api/revision-cache.ts'
import type { ProcedureMeta } from '../api/trpc.ts'

/** What an adapter responds with. */
export interface Answer {
  status: number
  headers: Record<string, string>
  body: string
}

/** The query procedures of the router whose metadata opts in, by their names in the router. */
export function cacheableProcedures(router: AnyRouter): Set<string> {
  const procedures = Object.entries(router._def.procedures as Record<string, AnyProcedure>)
  const cacheable = procedures.filter(
    ([, { _def }]) => _def.type === 'query' && (_def.meta as ProcedureMeta | undefined)?.cache,
  )
  return new Set(cacheable.map(([path]) => path))
}

/** In characters, of responses and of their URLs: 4 MB at most. */
const mostKept = 2_000_000

/** Responses by URL, for `cacheableProcedures` only, until the store changes. */
export function answerCache(store: Store): RevisionCache<Answer> {
  return new RevisionCache(store, { capacity: mostKept, weightOf: (url, { body }) => url.length + body.length })
}
