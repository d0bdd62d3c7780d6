import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ApiKey, BaseStore, Caller, Searcher } from '#store'
import { readIdempotencyKey, readIdempotencyKeys } from '../api/idempotency-key.ts'
import { isSafeMethod } from '../api/method.ts'
import { signalOf } from '../http/request.ts'
import type { Context } from './trpc.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether each of its calls repeats an earlier one. Undefined without an `Idempotency-Key`. */
    replayed: boolean[] | undefined
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
  const isSafe = isSafeMethod(request.method)
  const key = replays ? readIdempotencyKey(request) : undefined
  const replayed = [false]
  request.replayed = key === undefined ? undefined : replayed
  request.changedIds = isSafe ? undefined : []
  // All calls of a batch share it, because each signal listens to the response.
  let searcher: Searcher | undefined
  // One literal, without a getter: otherwise V8 would make a hidden class for each request.
  const context: Context = {
    store,
    caller: isSafe || !apiKey ? undefined : callerOf(apiKey, key, replayed),
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
  const replayed = keys.map(() => false)
  request.replayed = replayed
  return replays.map((isReplaying, call) =>
    isReplaying ? { ...ctx, caller: callerOf(apiKey, keys[call], replayed, call) } : ctx,
  )
}

function callerOf({ id, name }: ApiKey, key: string | undefined, replayed: boolean[], call = 0): Caller {
  function onReplay(): void {
    replayed[call] = true
  }
  return { owner: id, key, name, mutatesOnce: key !== undefined, onReplay }
}

/** Call it after the calls and before the response, which says of each call whether it repeats an earlier one. */
export function markReplays({ replayed }: FastifyRequest, reply: FastifyReply): void {
  if (replayed?.includes(true)) reply.header('idempotency-replayed', replayed.join(', '))
}
