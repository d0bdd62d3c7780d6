import { initTRPC, TRPCError } from '@trpc/server'
import { TRPC_ERROR_CODES_BY_KEY } from '@trpc/server/rpc'
import superjson from 'superjson'
import type { ApiKey, Store } from '../../db/store.ts'
import { toApiError } from './errors.ts'
import type { RestMeta } from './rest-meta.ts'

/** What a procedure is given besides its input. Both doors check the API key before any procedure runs. */
export interface Context {
  store: Store
  apiKey: ApiKey
  /** The caller's name for what is to happen only once, however often the request is repeated. */
  idempotencyKey: string | undefined
  /** Tells the caller that the answer is the one to an earlier request. */
  announceReplay: () => void
}

export interface ProcedureMeta extends RestMeta {
  /**
   * Opts a query into the response cache of both adapters. `dependsOn: 'store'` means that the cached response is sent to
   * every API key until the store changes: the resolver must read nothing of its context but the store.
   */
  cache?: { dependsOn: 'store' }
}

const t = initTRPC
  .context<Context>()
  .meta<ProcedureMeta>()
  .create({
    isDev: false,
    transformer: {
      input: { serialize: superjson.serialize, deserialize: deserializeInput },
      output: superjson,
    },
    errorFormatter({ error, shape }) {
      const { body, code } = toApiError(error)
      return {
        message: body.message,
        code: TRPC_ERROR_CODES_BY_KEY[code],
        data: { ...body, httpStatus: body.status, path: shape.data.path },
      }
    },
  })

export const router = t.router
export const procedure = t.procedure

function deserializeInput(serialized: Parameters<typeof superjson.deserialize>[0]): unknown {
  try {
    const types = serialized.meta?.values
    if (types && !holdsOnlyPlainTypes(types)) throw new TypeError('The input holds what no procedure takes.')
    return superjson.deserialize(serialized)
  } catch (cause) {
    throw new TRPCError({ code: 'BAD_REQUEST', message: 'The input is not valid superjson.', cause })
  }
}

/**
 * What inputs are made of besides JSON. superjson would build anything else it is told to before a schema sees it: a
 * typed array of any length, for one, from a hundred bytes.
 */
const plainTypes: unknown[] = ['bigint', 'number', 'undefined']

/** Looks through the tree of superjson's annotations. */
function holdsOnlyPlainTypes(tree: unknown): boolean {
  if (Array.isArray(tree)) return tree.length === 1 && plainTypes.includes(tree[0])
  return typeof tree === 'object' && tree !== null && Object.values(tree).every(holdsOnlyPlainTypes)
}
