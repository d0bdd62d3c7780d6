import type { AnyRouter } from '@trpc/server'
import { fastify } from 'fastify'
import { onTestFinished } from 'vitest'
import { bearerCheck } from '../../service/auth/bearer.ts'
import { type Rate, withRateLimit } from '../../service/auth/rate-limit.ts'
import { responseCache } from '../../service/http/cache/response-cache.ts'
import { processLoad, shedLoad } from '../../service/http/load-shedding.ts'
import { routeAllMethods } from '../../service/http/routing.ts'
import type { Context } from '../../service/procedures/trpc.ts'
import { restAdapter } from '../../service/rest/adapter.ts'
import { rpcAdapter } from '../../service/rpc/adapter.ts'
import type { BaseStore } from '../../store/collection/base-store.ts'
import type { ApiKey, WithApiKeys } from '../../store/keys.ts'
import type { ProductTests } from './product.ts'
import { createRestClient, type RestClient } from './rest-client.ts'
import { inject } from './transport.ts'

/** Serves routers that only a test has, with the keys of a product. */
export function routerTests<Store extends BaseStore & WithApiKeys>(
  { product, apiKeyRecord, mintApiKey }: ProductTests,
  { openTestStore }: { openTestStore(): Promise<Store> },
) {
  /** The context of a call with an API key that does not expire. */
  function contextWith(store: BaseStore): Context {
    return {
      store,
      idempotency: undefined,
      apiKey: { id: 1n, ...apiKeyRecord(mintApiKey(), 'test') },
      rateLimit: undefined,
      release: product.version,
    }
  }

  /** Serves a router through both adapters. The clients `first` and `second` have different keys. */
  async function startRouter(router: AnyRouter, { rateLimit }: { rateLimit?: Rate } = {}) {
    const store = await openTestStore()
    const app = fastify()
    onTestFinished(() => app.close())
    routeAllMethods(app)
    app.decorateRequest<ApiKey | null>('apiKey', null)
    const checkKey = bearerCheck(store, product)
    app.addHook('onRequest', rateLimit ? withRateLimit(rateLimit, checkKey) : checkKey)
    shedLoad(app, processLoad, store)
    app.decorateRequest('rateLimit', undefined)
    app.decorateRequest('idempotency', undefined)
    app.decorateRequest('changedIds', undefined)
    const calls = { store, release: product.version }
    const rest = { prefix: '/v1', basePath: '', address: () => '', cache: responseCache(store) }
    app.register(restAdapter, { ...rest, router, calls })
    app.register(rpcAdapter, { prefix: '/trpc', cache: responseCache(store), router, calls })

    async function createClient(name: string): Promise<RestClient> {
      const key = mintApiKey()
      const record = await store.apiKeys.create(apiKeyRecord(key, name))
      // Marks the key as used. Otherwise its first request would record the use, and so change the store.
      await store.apiKeys.touch(record, new Date())
      return createRestClient(inject(app), key)
    }
    return { store, first: await createClient('first'), second: await createClient('second') }
  }

  return { contextWith, startRouter }
}
