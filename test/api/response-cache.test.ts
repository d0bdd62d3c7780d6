import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { proceduresOf } from '../../server/api/procedures.ts'
import type { Context } from '../../server/api/trpc.ts'
import { appRouter } from '../../server/router.ts'
import { procedure, router } from '../../server/trpc.ts'
import { startRouter } from '../support/own-router.ts'
import { openStoreModel } from '../support/store-model.ts'

const Names = z.array(z.string())
const get = (path: `/${string}`) => ({ openapi: { method: 'GET', path } }) as const
const input = encodeURIComponent('{"0":{"json":{}},"1":{"json":{}}}')

const adapters: [adapter: string, url: string, cachedUrl: string][] = [
  ['REST', '/v1/own', '/v1/cached'],
  [
    'RPC',
    `/trpc/own?input=${encodeURIComponent('{"json":{}}')}`,
    `/trpc/cached?input=${encodeURIComponent('{"json":{}}')}`,
  ],
]

test.for(adapters)('%s: a query that does not opt in is called for each request', async ([, url]) => {
  const { first, second } = await startService()
  for (const client of [first, second, first, second]) {
    expect((await client.get(url)).text).toContain(client === first ? '["first"]' : '["second"]')
  }
})

test.for(adapters)(
  '%s: a query that opts in is cached from the second request on, until the store changes',
  async ([, , url]) => {
    const { first, store, calls } = await startService()
    for (const seen of ['["1"]', '["2"]', '["2"]', '["2"]']) expect((await first.get(url)).text).toContain(seen)
    expect(calls()).toBe(2)
    await store.pets.create({ name: 'Rex', categoryId: 1n, status: 'sold' })
    for (const seen of ['["3"]', '["3"]']) expect((await first.get(url)).text).toContain(seen)
  },
)

test('500 other URLs make the cache forget that a URL was requested', async () => {
  const { first, calls } = await startService()
  for (let i = 0; i < 501; i++) await first.get(`/v1/cached?n=${i}`)
  await first.get('/v1/cached?n=0')
  await first.get('/v1/cached?n=0')
  expect(calls()).toBe(503)
  await first.get('/v1/cached?n=0')
  expect(calls()).toBe(503)
})

test('a batch is cached only if all of its procedures opt in', async () => {
  const { first, second, calls } = await startService()
  for (const client of [first, second]) {
    for (const paths of ['cached,own', 'own,cached']) {
      const { text } = await client.get(`/trpc/${paths}?batch=1&input=${input}`)
      expect(text).toContain(client === first ? '["first"]' : '["second"]')
    }
  }
  expect(calls()).toBe(4)
  for (const client of [first, first, second, second]) {
    expect((await client.get(`/trpc/cached,cached?batch=1&input=${input}`)).status).toBe(200)
  }
  expect(calls()).toBe(8)
})

describe.for(proceduresOf(appRouter).filter(({ isCacheable }) => isCacheable))('$name opts in', ({ call }) => {
  test('and reads nothing of its context but the store', async () => {
    const store = openStoreModel()
    // Safe: reading any other property throws.
    const ctx = new Proxy({ store } as unknown as Context, {
      get(target, key) {
        // Read by the caller of the resolver.
        if (key === 'traceCall') return undefined
        if (key !== 'store') throw new Error(`It read ${String(key)}, so the response could be one caller's alone.`)
        return target.store
      },
    })
    for (const input of [undefined, {}]) await expect(call(input, ctx)).resolves.toBeDefined()
  })
})

/** A query that returns the name of the caller's key, and one that counts how often it is called. */
async function startService() {
  let count = 0
  const routes = router({
    own: procedure
      .meta(get('/own'))
      .input(z.object({}))
      .output(Names)
      .query(({ ctx }) => [ctx.apiKey.name]),
    cached: procedure
      .meta({ ...get('/cached'), cache: { dependsOn: 'store' } })
      .input(z.object({}))
      .output(Names)
      .query(() => [String(++count)]),
  })
  return { ...(await startRouter(routes)), calls: () => count }
}
