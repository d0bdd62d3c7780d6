import type { AnyRouter } from '@trpc/server'
import { fastify } from 'fastify'
import { expect, onTestFinished } from 'vitest'
import type { ApiKey } from '../../db/store.ts'
import { apiKeyRecord, mintApiKey } from '../../server/auth/api-key.ts'
import { bearerCheck, checkedApiKey } from '../../server/auth/bearer.ts'
import { routeAllMethods } from '../../server/http/routing.ts'
import { restAdapter } from '../../server/rest/adapter.ts'
import { rpcAdapter } from '../../server/rpc/adapter.ts'
import { openTestStore } from './helpers.ts'

/** Serves a router of the test's own through both adapters, to callers with the keys `first` and `second`. */
export async function startRouter(router: AnyRouter) {
  const store = await openTestStore()
  const keys = new Map<string, string>()
  for (const name of ['first', 'second']) {
    const key = mintApiKey()
    const { id } = await store.apiKeys.create(apiKeyRecord(key, name))
    // A key that was just used is not noted again, which would be a change of the store.
    await store.apiKeys.touch(id, new Date())
    keys.set(name, key)
  }

  const app = fastify()
  onTestFinished(() => app.close())
  routeAllMethods(app)
  app.decorateRequest<ApiKey | null>('apiKey', null)
  app.addHook('onRequest', bearerCheck(store))
  const createContext = (request: Parameters<typeof checkedApiKey>[0]) => ({
    store,
    apiKey: checkedApiKey(request),
    idempotencyKey: undefined,
    announceReplay: () => {},
  })
  app.register(restAdapter, { prefix: '/v1', router, store, createContext })
  app.register(rpcAdapter, { prefix: '/trpc', router, store, createContext })

  return {
    store,
    /** The body of the response to a GET, which must be a 200. */
    async send(name: string, url: string): Promise<string> {
      const { statusCode, payload } = await app.inject({ url, headers: { authorization: `Bearer ${keys.get(name)}` } })
      expect(statusCode).toBe(200)
      return payload
    },
  }
}
