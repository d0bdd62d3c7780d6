import type { FastifyReply, FastifyRequest } from 'fastify'
import type { BaseStore, IdempotencyKey } from '#store'
import { readIdempotencyKey } from '../api/idempotency-key.ts'
import { signalOf } from '../http/request.ts'
import type { Context } from './trpc.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** What the store gets of the `Idempotency-Key`. After the call it says whether the response is a replay. */
    idempotency: IdempotencyKey | undefined
  }
}

export interface CallOptions {
  store: BaseStore
  /** The version of the service. */
  release: string
  /** Adds traces to the calls of a request that is traced. */
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
  request.idempotency = idempotency
  // One literal, without a getter: otherwise V8 would make a hidden class for each request.
  const context: Context = { store, idempotency, apiKey, rateLimit, release, signal: () => signalOf(reply.raw) }
  return traceCalls ? traceCalls(request, context) : context
}

/** Call it after a call and before the response, which says so if it repeats an earlier one. */
export function markReplay({ idempotency }: Context, reply: FastifyReply): void {
  if (idempotency?.isReplay) reply.header('idempotency-replayed', 'true')
}
