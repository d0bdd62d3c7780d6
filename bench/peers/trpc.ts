import { fastifyTRPCPlugin } from '@trpc/server/adapters/fastify'
import { fastify } from 'fastify'
import { hashApiKey } from '../../engine/service/auth/api-key.ts'
import type { ApiKey } from '../../engine/store/keys/store.ts'
import { appRouter } from '../../server/router.ts'
import { openSqlite } from '../../test/support/engines.ts'

/** tRPC's own Fastify adapter on the service's procedures and store, with the same check of the API key. */

declare module 'fastify' {
  interface FastifyRequest {
    found: ApiKey | undefined
  }
}

const [path = '', port] = process.argv.slice(2)
const store = openSqlite({ path, busyTimeout: 200 })
const app = fastify({ routerOptions: { maxParamLength: 5_000 } })

app.decorateRequest('found', undefined)
app.addHook('onRequest', async (request, reply) => {
  const key = /^bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1]
  request.found = key === undefined ? undefined : await store.apiKeys.find(hashApiKey(key))
  const { revokedAt, expiresAt } = request.found ?? {}
  if (!request.found || revokedAt || (expiresAt && expiresAt <= new Date())) await reply.code(401).send()
})
app.register(fastifyTRPCPlugin, {
  prefix: '/trpc',
  trpcOptions: {
    router: appRouter,
    createContext: ({ req }: { req: { found: ApiKey | undefined } }) => ({
      store,
      apiKey: req.found,
      idempotency: undefined,
    }),
  },
})

await app.listen({ port: Number(port), host: '127.0.0.1' })
