import { initTRPC } from '@trpc/server'
import { TRPC_ERROR_CODES_BY_KEY } from '@trpc/server/rpc'
import superjson from 'superjson'
import type { OpenApiMeta } from 'trpc-to-openapi'
import type { ApiKey, Store } from '../../db/store.ts'
import { toApiError } from './errors.ts'
import { decodeSuperjson } from './superjson-input.ts'

/** The context of a call. Both adapters check the API key before they call a procedure. */
export interface Context {
  store: Store
  apiKey: ApiKey
  /** The request's `Idempotency-Key`, if it has one. */
  idempotencyKey: string | undefined
  /** Marks the response as the replay of an earlier one. */
  announceReplay: () => void
  /** Traces the call of a procedure with a context of its own. Only traced requests have it. */
  traceCall?: <T>(name: string, call: (ctx: Context) => Promise<T>) => Promise<T>
}

/** The metadata of a procedure. With `openapi` the REST adapter serves it. */
export interface ProcedureMeta extends OpenApiMeta {
  /** The group of the operation in the OpenAPI document. */
  tag?: { name: string; description: string }
  deprecation?: Deprecation
  /**
   * Opts a query into the response cache of both adapters. `dependsOn: 'store'` means that the cached response is sent to
   * every API key until the store changes: the resolver must read nothing of its context but the store.
   */
  cache?: { dependsOn: 'store' }
}

export interface Deprecation {
  /** The date of the deprecation (RFC 9745). */
  since: Date
  /** The date from which the operation may be removed (RFC 8594). */
  sunset: Date
  /** The path of the replacement, relative to the base address. */
  successor: `/${string}`
  /** What to use instead, in Markdown. */
  replacement: string
}

const t = initTRPC
  .context<Context>()
  .meta<ProcedureMeta>()
  .create({
    isDev: false,
    transformer: {
      input: { serialize: superjson.serialize, deserialize: decodeSuperjson },
      output: superjson,
    },
    errorFormatter({ error, shape }) {
      const { body, code, issues } = toApiError(error)
      return {
        message: body.message,
        code: TRPC_ERROR_CODES_BY_KEY[code],
        data: { ...body, ...(issues && { issues }), httpStatus: body.status, path: shape.data.path },
      }
    },
  })

export const router = t.router
export const procedure = t.procedure
