import { initTRPC, type TRPCCreateRouterOptions } from '@trpc/server'
import { TRPC_ERROR_CODES_BY_KEY } from '@trpc/server/rpc'
import superjson from 'superjson'
import type { OpenApiMeta } from 'trpc-to-openapi'
import type { ApiKey } from '../../db/keys/store.ts'
import type { BaseStore, Once } from '../../db/store.ts'
import { type RpcError, toApiError } from './errors.ts'
import { requestHeaders, responseHeaders } from './idempotency-key.ts'
import { decodeSuperjson } from './superjson-input.ts'

/** The context of a call. Both adapters check the API key before they call a procedure. */
export interface Context<Store = BaseStore> {
  store: Store
  apiKey: ApiKey
  /** The request's `Idempotency-Key`, if it has one. Pass it to the store with the mutation. */
  once: Once | undefined
  /** Traces the call of a procedure with a context of its own. Only traced requests have it. */
  traceCall?: <T>(name: string, call: (ctx: Context<Store>) => Promise<T>) => Promise<T>
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

/** The metadata of a mutation. */
export interface MutationMeta extends ProcedureMeta {
  /** Whether a repeated request with the same `Idempotency-Key` gets the response of the first one, or the key has no effect. */
  idempotencyKey: 'replays' | 'ignored'
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

/** The procedures, if each mutation declares how it treats an `Idempotency-Key`. */
type Declared<Procedures> = {
  [Name in keyof Procedures]: Procedures[Name] extends { _def: { type: 'mutation' }; meta: infer Meta }
    ? Meta extends MutationMeta
      ? Procedures[Name]
      : 'Begin a mutation with mutation(), not with procedure.'
    : Procedures[Name]
}

/** Creates the functions that begin procedures and routers over a store. */
export function createTrpc<Store>() {
  const t = createBuilder<Store, ProcedureMeta>()
  const mutations = createBuilder<Store, MutationMeta>()
  return {
    /** Begins a query. */
    procedure: t.procedure,
    /** Begins a mutation. */
    mutation: (meta: MutationMeta) => mutations.procedure.meta(withHeaders(meta)),
    router: <Procedures extends TRPCCreateRouterOptions>(procedures: Procedures & Declared<Procedures>) =>
      t.router<Procedures>(procedures),
  }
}

function createBuilder<Store, Meta extends ProcedureMeta>() {
  return initTRPC
    .context<Context<Store>>()
    .meta<Meta>()
    .create({
      isDev: false,
      transformer: {
        input: { serialize: superjson.serialize, deserialize: decodeSuperjson },
        output: superjson,
      },
      errorFormatter({ error, shape }): RpcError {
        const { body, code, issues } = toApiError(error)
        return {
          message: body.message,
          code: TRPC_ERROR_CODES_BY_KEY[code],
          data: { ...body, ...(issues && { issues }), httpStatus: body.status, path: shape.data.path },
        }
      },
    })
}

/** REST documents the headers of a mutation that replays. */
function withHeaders(meta: MutationMeta): MutationMeta {
  const { openapi, idempotencyKey } = meta
  if (!openapi || idempotencyKey === 'ignored') return meta
  const errorResponses = {
    ...openapi.errorResponses,
    422: 'The `Idempotency-Key` was used before with another payload.',
  }
  return { ...meta, openapi: { ...openapi, requestHeaders, responseHeaders, errorResponses } }
}
