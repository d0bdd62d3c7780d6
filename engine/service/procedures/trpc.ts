import { initTRPC, type TRPCCreateRouterOptions } from '@trpc/server'
import { TRPC_ERROR_CODES_BY_KEY } from '@trpc/server/rpc'
import superjson from 'superjson'
import type { OpenApiMeta } from 'trpc-to-openapi'
import { z } from 'zod'
import type { ApiKey, BaseStore, Caller, Searcher, WithApiKeys } from '#store'
import { type ApiError, type RpcError, toApiError } from '../api/errors.ts'
import { requestHeaders, responseHeaders } from '../api/idempotency-key.ts'
import { isRecord } from '../api/validation.ts'
import { requireApiKey, requireWriteAccess } from './access.ts'

/**
 * The functions with which a product begins its procedures: `query`, `mutation` and `router`. The adapters make a whole
 * {@link Context}, of which a resolver sees the part that its kind of procedure may depend on. So a query whose response is
 * cached cannot read the API key, because other keys get it, too.
 */

/** The context that the adapters make for a request. A resolver reads a part of it. */
export interface Context extends SessionContext {
  store: BaseStore
  /** What the store gets of the request of a mutation. It has the `Idempotency-Key` if the mutation replays. */
  caller: Caller | undefined
  searcher: () => Searcher
  /** Those of the product. */
  settings: unknown
  dependencies: unknown
  /** Collects the ids of the rows that mutations return, for the log. Undefined for queries. */
  changedIds?: bigint[] | undefined
  /** Traces the call of a procedure, which gets a context of its own. Only traced requests have it. */
  traceCall?: (<T>(name: string, ctx: Context, call: (ctx: Context) => Promise<T>) => Promise<T>) | undefined
}

export interface SessionContext {
  /** Null if the API key was not checked. Then the guard of every procedure refuses the call. */
  apiKey: ApiKey | null
  /** The rate limit of the key after this request. Undefined if there is no limit. */
  rateLimit: RateLimitState | undefined
  /** The version of the service. */
  release: string
}

/** A window of the rate limit. */
export const RateLimitState = z.object({
  calls: z.int().meta({ description: 'The number of calls that the key may make in each window.' }),
  seconds: z.int().meta({ description: 'The length of a window in seconds.' }),
  remaining: z.int().meta({ description: 'The number of calls that are left in this window.' }),
  resetsIn: z.int().meta({ description: 'Seconds until the next window starts.' }),
})
export type RateLimitState = z.infer<typeof RateLimitState>

/**
 * What the resolver of a cached query reads. Its response depends only on the store, so every API key may get it. It must not
 * depend on the id of the searcher.
 */
export interface CachedContext<Store, Settings = unknown> {
  /** Without the methods that mutate and without the keys: a query also runs for a key that may only read. */
  store: { [Name in Exclude<keyof Store, keyof WithApiKeys>]: ReadsOf<Store[Name]> }
  /** Says on whose behalf a search runs. Its signal is aborted when the client has gone before it got the response. */
  searcher: () => Searcher
  /** The settings of the product: see `Service`. */
  settings: Settings
}

/** What the resolver of another query reads. Its response may depend on the caller. */
export interface QueryContext<Store, Settings = unknown, Dependencies = unknown>
  extends CachedContext<Store, Settings> {
  /** The API key of the call, without what identifies it to the service. */
  apiKey: Pick<ApiKey, 'id' | 'name' | 'access'>
  /** Those of the product: see `Service`. */
  dependencies: Dependencies
}

/** What the resolver of a mutation reads. */
export interface MutationContext<Store, Settings = unknown, Dependencies = unknown>
  extends Omit<QueryContext<Store, Settings, Dependencies>, 'store'> {
  store: MutatingStore<Store>
  /** The name of the API key, for the history, and the `Idempotency-Key` of a mutation that replays. */
  caller: Caller
}

/** Each method that mutates needs its caller, so that code that does not pass it on does not compile. */
export type MutatingStore<Store> = { [Name in keyof Store]: MutatingOf<Store[Name]> }

type AnyMethod = (...args: never) => unknown

/** What a method that mutates gets besides its caller; never for another one. */
type InputOf<Method> = Method extends (...args: infer Args) => unknown
  ? Required<Args> extends [infer Input, Caller]
    ? Input
    : never
  : never

type ReadsOf<Part> = Part extends AnyMethod
  ? Part
  : { [Name in keyof Part as [InputOf<Part[Name]>] extends [never] ? Name : never]: Part[Name] }

type MutatingOf<Part> = Part extends AnyMethod
  ? Part
  : {
      [Name in keyof Part]: [InputOf<Part[Name]>] extends [never]
        ? Part[Name]
        : (input: InputOf<Part[Name]>, caller: Caller) => ReturnType<Extract<Part[Name], AnyMethod>>
    }

/** The metadata of a procedure. With `openapi` the REST adapter serves it. */
export interface ProcedureMeta extends OpenApiMeta {
  /** The group of the operation in the OpenAPI document. */
  tag?: { name: string; description: string }
  deprecation?: Deprecation
  /** Caches the responses to a query, with an `ETag`: every API key gets them until the store changes. */
  cache?: true
  /**
   * With `write`, a query also needs a key that may write. A key that may only read can be built into a page, whose visitors
   * must not see, for example, who has changed what.
   */
  access?: 'write'
}

export interface CachedMeta extends ProcedureMeta {
  cache: true
  access?: never
}

/** The metadata of a query whose responses are not cached. */
export interface QueryMeta extends ProcedureMeta {
  cache?: never
}

export interface MutationMeta extends QueryMeta {
  access?: never
  /**
   * Whether a repeated request with the same `Idempotency-Key` gets the response of the first one, or the header is
   * ignored. With `replays`, it is a part of `ctx.caller`, which the resolver passes to the store.
   */
  idempotencyKey: 'replays' | 'ignored'
  /** What the mutation creates, if it does: REST responds with 201 instead of 200. */
  creates?: string
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
      : 'Begin a mutation with mutation(), not with query().'
    : Procedures[Name]
}

/** Begins procedures and routers over a store. Every procedure needs an API key, and a mutation one that may write. */
export function createTrpc<Store, Settings = unknown, Dependencies = unknown>() {
  const cached = createBuilder<CachedContext<Store, Settings>, CachedMeta>().procedure
  const { procedure: uncached, router } = createBuilder<QueryContext<Store, Settings, Dependencies>, QueryMeta>()
  const mutating = createBuilder<MutationContext<Store, Settings, Dependencies>, MutationMeta>(
    requireWriteAccess,
  ).procedure

  function query(meta: CachedMeta): typeof cached
  function query(meta?: QueryMeta): typeof uncached
  function query(meta: CachedMeta | QueryMeta = {}) {
    return meta.cache ? cached.meta(meta) : uncached.meta(meta)
  }

  return {
    query,
    mutation: (meta: MutationMeta) => mutating.meta(withHeaders(meta)),
    router: <Procedures extends TRPCCreateRouterOptions>(procedures: Procedures & Declared<Procedures>) =>
      router<Procedures>(procedures),
  }
}

/** @param requireMore throws if the key of a call lacks what these procedures need */
export function createBuilder<ContextOfResolver extends object, Meta extends ProcedureMeta>(
  requireMore?: (ctx: Context) => void,
) {
  const { procedure, router } = initTRPC
    .context<ContextOfResolver>()
    .meta<Meta>()
    .create({
      isDev: false,
      // For the types of clients: the adapters read the inputs and write the responses themselves.
      transformer: superjson,
      errorFormatter: ({ error, shape }): RpcError => rpcErrorOf(toApiError(error), shape.data.path),
    })
  return { procedure: procedure.use(guardedBy(requireMore)), router }
}

interface Middleware<Result> {
  ctx: object
  path: string
  meta?: ProcedureMeta | undefined
  next(options: { ctx: Context }): Promise<Result>
}

/** The first middleware of every procedure: refuses what is not allowed, traces the call, and notes the row that it changes. */
export type Guard = ReturnType<typeof guardedBy>

function guardedBy(requireMore: ((ctx: Context) => void) | undefined) {
  async function guard<Result extends { ok: boolean }>({ ctx: given, path, meta, next }: Middleware<Result>) {
    // Safe: the adapters call each procedure with a whole context.
    const ctx = given as Context
    return ctx.traceCall ? ctx.traceCall(path, ctx, run) : run(ctx)

    async function run(ctx: Context): Promise<Result> {
      requireApiKey(ctx)
      requireMore?.(ctx)
      if (meta?.access) requireWriteAccess(ctx)
      const result = await next({ ctx })
      if ('error' in result) throw result.error
      const { changedIds } = ctx
      if (changedIds && 'data' in result && isRecord(result.data) && typeof result.data.id === 'bigint')
        changedIds.push(result.data.id)
      return result
    }
  }
  return Object.assign(guard, { isGuard: true })
}

function rpcErrorOf({ body, code, issues }: ApiError, path: string | undefined): RpcError {
  return {
    message: body.message,
    code: TRPC_ERROR_CODES_BY_KEY[code],
    data: { ...body, ...(issues && { issues }), httpStatus: body.status, path },
  }
}

/** The error in the form that tRPC's clients expect. */
export function errorEnvelope(error: ApiError, path: string | undefined): object {
  return { error: superjson.serialize(rpcErrorOf(error, path)) }
}

/** REST documents the headers of a mutation that replays. */
function withHeaders(meta: MutationMeta): MutationMeta {
  const { openapi, idempotencyKey, creates } = meta
  if (!openapi || idempotencyKey === 'ignored') return meta
  return { ...meta, openapi: { ...openapi, requestHeaders: requestHeaders(creates), responseHeaders } }
}
