import type { FastifyReply, FastifyRequest } from 'fastify'
import type { BaseStore, Searcher } from '#store'
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
  const keys = !isSafe && replays.includes(true) ? readIdempotencyKeys(request.headers, replays.length) : undefined
  const replayed = replays.map(() => false)
  request.replayed = keys && replayed
  request.changedIds = isSafe ? undefined : []
  // All calls of a batch share it, because each signal listens to the response.
  let searcher: Searcher | undefined
  return (call) => {
    const key = replays[call] ? keys?.[call] : undefined
    function onReplay(): void {
      replayed[call] = true
    }
    // One literal, without a getter: otherwise V8 would make a hidden class for each request.
    const context: Context = {
      store,
      caller:
        isSafe || !apiKey
          ? undefined
          : { owner: apiKey.id, key, name: apiKey.name, mutationsLeft: replays[call] ? 1 : undefined, onReplay },
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

/** Call it after the calls and before the response, which says of each call whether it repeats an earlier one. */
export function markReplays({ replayed }: FastifyRequest, reply: FastifyReply): void {
  if (replayed?.includes(true)) reply.header('idempotency-replayed', replayed.join(', '))
}
