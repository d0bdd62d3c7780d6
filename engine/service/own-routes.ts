import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Caller } from '#store'
import { toApiError } from './api/errors.ts'
import { parseJson, writeJson } from './api/literals.ts'
import { isSafeMethod, labelRoutes } from './http/request.ts'
import { acceptJsonOnly } from './http/routing.ts'
import { requireApiKey, requireWriteAccess } from './procedures/access.ts'
import { callersOf, markReplays } from './procedures/context.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** That of the mutation of a route of the product's own. */
    caller: Caller | undefined
    /** Whether the body was read, so that an error is no longer one of the connection or the parser. */
    isRead: boolean
  }
}

/** Routes of the product's own. Hooks, such as the check of the API key, run first. Metrics and logs name each by its path. */
export async function ownRoutes(
  app: FastifyInstance,
  add: (app: FastifyInstance) => void | Promise<void>,
): Promise<void> {
  acceptJsonOnly(app, parseJson)
  app.setReplySerializer((body) => writeJson(body))
  labelRoutes(app)
  app.decorateRequest('caller', undefined)
  app.addHook('onRequest', async (request) => {
    if (!isSafeMethod(request.method)) requireWriteAccess(request)
  })
  app.decorateRequest('isRead', false)
  app.addHook('preHandler', async (request) => {
    request.isRead = true
  })
  // A library that a route calls may throw an error with the status or the code of another request.
  app.setErrorHandler((thrown, { isRead }) => {
    throw isRead ? toApiError(thrown) : thrown
  })
  app.addHook('onSend', async (request, reply) => markReplays(request, reply))
  await add(app)
}

/**
 * The caller for the mutation that a route of the product's own runs: it has the name of the API key, for the history, and the
 * `Idempotency-Key`, under which a repeated request has no second effect. Each call for a request returns the same caller, with
 * which one mutation may run.
 *
 * @throws {ApiError} if the API key may only read, or if the `Idempotency-Key` is not valid
 */
export function callerOf(request: FastifyRequest): Caller {
  requireWriteAccess(request)
  request.caller ??= callersOf(request, requireApiKey(request), [true])(0)
  return request.caller
}
