import type { FastifyReply, FastifyRequest } from 'fastify'
import type { BaseStore, IdempotencyKey, Searcher } from '#store'
import { readIdempotencyKey, readIdempotencyKeys } from '../api/idempotency-key.ts'
import { isSafeMethod } from '../api/method.ts'
import { signalOf } from '../http/request.ts'
import type { Context } from './trpc.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** What the store gets of the `Idempotency-Key`. After the calls each says whether its response is a replay. */
    idempotency: readonly IdempotencyKey[] | undefined
    changedIds: bigint[] | undefined
  }
}

export interface CallOptions {
  store: BaseStore
  release: string
  traceCalls?: ((request: FastifyRequest, ctx: Context) => Context) | undefined
}

/** Makes the context of a call. `replays` says whether the procedure gets the `Idempotency-Key`. */
export function createContext(
  { store, release, traceCalls }: CallOptions,
  request: FastifyRequest,
  reply: FastifyReply,
  replays: boolean,
): Context {
  const { apiKey, rateLimit } = request
  const key = replays ? readIdempotencyKey(request) : undefined
  const idempotency = key === undefined || !apiKey ? undefined : { owner: apiKey.id, key, isReplay: false }
  request.idempotency = idempotency && [idempotency]
  request.changedIds = isSafeMethod(request.method) ? undefined : []
  // All calls of a batch share it, because each signal listens to the response.
  let searcher: Searcher | undefined
  // One literal, without a getter: otherwise V8 would make a hidden class for each request.
  const context: Context = {
    store,
    idempotency,
    apiKey,
    rateLimit,
    release,
    changedIds: request.changedIds,
    searcher: () => (searcher ??= { id: apiKey?.id, signal: signalOf(reply.raw) }),
  }
  return traceCalls ? traceCalls(request, context) : context
}

/** The contexts of the calls of a batch, whose header has a key for each of them. `replays` says which calls get theirs. */
export function contextsOfBatch(ctx: Context, request: FastifyRequest, replays: boolean[]): Context[] {
  const keys = replays.includes(true) ? readIdempotencyKeys(request, replays.length) : undefined
  const { apiKey } = request
  if (!keys || !apiKey) return replays.map(() => ctx)
  const idempotency = keys.map((key) => ({ owner: apiKey.id, key, isReplay: false }))
  request.idempotency = idempotency
  return replays.map((isReplaying, call) => (isReplaying ? { ...ctx, idempotency: idempotency[call] } : ctx))
}

/** Call it after the calls and before the response, which says of each call whether it repeats an earlier one. */
export function markReplays(calls: Pick<Context, 'idempotency'>[], reply: FastifyReply): void {
  if (!calls.some(({ idempotency }) => idempotency?.isReplay)) return
  const replayed = calls.map(({ idempotency }) => idempotency?.isReplay ?? false)
  reply.header('idempotency-replayed', replayed.join(', '))
}
