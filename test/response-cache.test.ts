import { fastify } from 'fastify'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import type { ApiKey } from '../db/store.ts'
import { cacheableProcedures } from '../server/answer.ts'
import { apiKeyRecord, mintApiKey } from '../server/auth/api-key.ts'
import { bearerCheck, checkedApiKey } from '../server/auth/bearer.ts'
import { restDoor } from '../server/rest/adapter.ts'
import { appRouter } from '../server/router.ts'
import { knowAllMethods } from '../server/routes.ts'
import { rpcDoor } from '../server/rpc/adapter.ts'
import { procedure, router } from '../server/trpc.ts'
import { openTestStore } from './helpers.ts'

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

test.for(adapters)('%s: a response that depends on the API key goes to its caller alone', async ([, url]) => {
  const { send } = await startService()
  for (const name of ['first', 'second', 'first', 'second']) expect(await send(name, url)).toContain(`["${name}"]`)
})

test.for(adapters)('%s: a query that opts in is called once until the store changes', async ([, , url]) => {
  const { send, store, calls } = await startService()
  for (let i = 0; i < 3; i++) expect(await send('first', url)).toContain('["1"]')
  expect(calls()).toBe(1)
  await store.pets.create({ name: 'Rex', categoryId: 1n, status: 'sold' })
  expect(await send('first', url)).toContain('["2"]')
})

test('a batch is cached only if all of its procedures opt in', async () => {
  const { send, calls } = await startService()
  for (const name of ['first', 'second']) {
    expect(await send(name, `/trpc/cached,own?batch=1&input=${input}`)).toContain(`["${name}"]`)
    expect(await send(name, `/trpc/own,cached?batch=1&input=${input}`)).toContain(`["${name}"]`)
  }
  expect(calls()).toBe(4)
  for (const name of ['first', 'second']) await send(name, `/trpc/cached,cached?batch=1&input=${input}`)
  expect(calls()).toBe(6)
})

test('pets.list is the only procedure of the service that opts in', () => {
  expect([...cacheableProcedures(appRouter)]).toEqual(['pets.list'])
})

/** Both adapters over a query that returns the name of the caller's key, and one that counts how often it is called. */
async function startService() {
  const store = await openTestStore()
  const keys = new Map<string, string>()
  for (const name of ['first', 'second']) {
    const key = mintApiKey()
    const { id } = await store.apiKeys.create(apiKeyRecord(key, name))
    // A key that was just used is not noted again, which would be a change of the store.
    await store.apiKeys.touch(id, new Date())
    keys.set(name, key)
  }
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

  const app = fastify()
  onTestFinished(() => app.close())
  knowAllMethods(app)
  app.decorateRequest<ApiKey | null>('apiKey', null)
  app.addHook('onRequest', bearerCheck(store))
  const createContext = (request: Parameters<typeof checkedApiKey>[0]) => ({
    store,
    apiKey: checkedApiKey(request),
    idempotencyKey: undefined,
    announceReplay: () => {},
  })
  app.register(restDoor, { prefix: '/v1', router: routes, store, createContext })
  app.register(rpcDoor, { prefix: '/trpc', router: routes, store, createContext })

  return {
    store,
    calls: () => count,
    async send(name: string, url: string): Promise<string> {
      const { statusCode, payload } = await app.inject({ url, headers: { authorization: `Bearer ${keys.get(name)}` } })
      expect(statusCode).toBe(200)
      return payload
    },
  }
}
