import type { FastifyInstance } from 'fastify'
import { parseJson, writeJson } from './api/literals.ts'
import { isSafeMethod, labelRoutes } from './http/request.ts'
import { acceptJsonOnly } from './http/routing.ts'
import { requireWriteAccess } from './procedures/access.ts'

/** Routes of the product's own. Hooks, such as the check of the API key, run first. Metrics and logs name each by its path. */
export async function ownRoutes(
  app: FastifyInstance,
  add: (app: FastifyInstance) => void | Promise<void>,
): Promise<void> {
  acceptJsonOnly(app, parseJson)
  app.setReplySerializer((body) => writeJson(body))
  labelRoutes(app)
  app.addHook('onRequest', async (request) => {
    if (!isSafeMethod(request.method)) requireWriteAccess(request)
  })
  await add(app)
}
