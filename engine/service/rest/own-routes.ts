import type { FastifyInstance } from 'fastify'
import { parseJson, writeJson } from '../api/literals.ts'
import { isSafeMethod } from '../api/method.ts'
import { acceptJsonOnly } from '../http/routing.ts'
import { requireWriteAccess } from '../procedures/access.ts'

/** Routes of the product's own. Hooks, such as the check of the API key, run first. Metrics and logs name each by its path. */
export async function ownRoutes(
  app: FastifyInstance,
  { add }: { add: (app: FastifyInstance) => void | Promise<void> },
): Promise<void> {
  acceptJsonOnly(app, parseJson)
  app.setReplySerializer((body) => writeJson(body))
  app.addHook('onRoute', (route) => {
    route.config = { labels: { adapter: 'http', operation: route.url }, ...route.config }
  })
  app.addHook('onRequest', async (request) => {
    if (!isSafeMethod(request.method)) requireWriteAccess(request)
  })
  await add(app)
}
