import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ApiKey, BaseStore, Caller, Searcher } from '#store'
import { readIdempotencyKeys } from '../api/idempotency-key.ts'
import { isSafeMethod, signalOf } from '../http/request.ts'
import type { Context } from './trpc.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether each of its calls repeats an earlier one. Undefined without an `Idempotency-Key`. */
    replayed: boolean[] | undefined
    changedIds: bigint[] | undefined
  }
}

/** Lets the log and the metrics of a request know what its calls have done. */
export function decorateWithCalls(app: FastifyInstance): void {
  app.decorateRequest('replayed', undefined)
  app.decorateRequest('changedIds', undefined)
}

export interface CallOptions {
  store: BaseStore
  release: string
  settings: unknown
  dependencies: unknown
  traceCalls?: ((request: FastifyRequest, ctx: Context) => Context) | undefined
}

/** Returns a function that makes the context of each call of a request. `replays` says which calls get an `Idempotency-Key`. */
export function contextsOf(
  { store, release, settings, dependencies, traceCalls }: CallOptions,
  request: FastifyRequest,
  reply: FastifyReply,
  replays: boolean[],
): (call: number) => Context {
  const { apiKey, rateLimit } = request
  const isSafe = isSafeMethod(request.method)
  const callerOf = isSafe || !apiKey ? undefined : callersOf(request, apiKey, replays)
  request.changedIds = isSafe ? undefined : []
  // All calls of a batch share it, because each signal listens to the response.
  let searcher: Searcher | undefined
  return (call) => {
    // One literal, without a getter: otherwise V8 would make a hidden class for each request.
    const context: Context = {
      store,
      caller: callerOf?.(call),
      apiKey,
      rateLimit,
      release,
      settings,
      dependencies,
      changedIds: request.changedIds,
      searcher: () => (searcher ??= { id: apiKey?.id, signal: signalOf(reply.raw) }),
    }
    return traceCalls ? traceCalls(request, context) : context
  }
}

/** Returns a function that makes the caller of each call. One that gets an `Idempotency-Key` may run one mutation. */
export function callersOf(
  request: FastifyRequest,
  { id: owner, name }: ApiKey,
  replays: boolean[],
): (call: number) => Caller {
  const keys = replays.includes(true) ? readIdempotencyKeys(request.headers, replays.length) : undefined
  const replayed = replays.map(() => false)
  request.replayed = keys && replayed
  return (call) => {
    function onReplay(): void {
      replayed[call] = true
    }
    const [key, mutationsLeft] = replays[call] ? [keys?.[call], 1] : []
    return { owner, key, name, mutationsLeft, onReplay }
  }
}

/** Call it after the calls and before the response, which says of each call whether it repeats an earlier one. */
export function markReplays({ replayed }: FastifyRequest, reply: FastifyReply): void {
  if (replayed?.includes(true)) reply.header('idempotency-replayed', replayed.join(', '))
}
