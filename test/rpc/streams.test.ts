import { createTRPCClient, httpBatchStreamLink } from '@trpc/client'
import type { InjectOptions } from 'fastify'
import superjson from 'superjson'
import { expect, test } from 'vitest'
import { samplesIn } from '../../engine/test/support/metrics.ts'
import { fetchFrom } from '../../engine/test/support/transport.ts'
import type { AppRouter } from '../../server/router.ts'
import { startTestApi, type TestApi } from '../support/petstore.ts'

function sendStreamed({ app, key }: TestApi, { headers, ...request }: InjectOptions) {
  const types = { 'trpc-accept': 'application/jsonl', 'content-type': 'application/json' }
  return app.inject({ ...request, headers: { authorization: `Bearer ${key}`, ...types, ...headers } })
}

function clientOf({ app }: TestApi, key: string) {
  const send = fetchFrom(app)
  const headers = { authorization: `Bearer ${key}` }
  const link = httpBatchStreamLink({
    url: 'http://a/trpc',
    headers,
    transformer: superjson,
    // Safe: only the types of tRPC allow members that are undefined.
    fetch: (input, init) => send(input, init as RequestInit),
  })
  return createTRPCClient<AppRouter>({ links: [link] })
}

test('httpBatchStreamLink gets exact values, and each call succeeds or fails alone', async () => {
  const api = await startTestApi()
  const { pets, session } = clientOf(api, api.key)
  const categoryId = 2n ** 63n - 1n
  const rex = { id: 1n, name: 'Rex', categoryId, status: 'available' }
  expect(await pets.create.mutate({ name: 'Rex', categoryId })).toEqual(rex)
  await pets.update.mutate({ petId: 1n, status: 'sold' })
  const results = await Promise.allSettled([
    pets.list.query({ cursor: 9n }),
    pets.list.query({ limit: 0 }),
    pets.history.query({}),
    pets.get.query({ petId: 9n }),
    session.current.query(),
  ])
  expect(results).toMatchObject([
    { value: [] },
    { reason: { data: { code: 'invalid_request', issues: [{ path: 'limit' }] } } },
    { value: [{ petId: 1n, at: expect.any(Date), before: { status: 'available' }, after: { status: 'sold' } }] },
    { reason: { data: { code: 'not_found', status: 404 } } },
    { value: { keyName: 'test', access: 'write' } },
  ])
  await expect(clientOf(api, 'wrong').pets.list.query()).rejects.toMatchObject({ data: { code: 'unauthorized' } })
})

test('a repeated create that is streamed says that it is replayed', async () => {
  const api = await startTestApi()
  const payload = { 0: { json: { name: 'Rex', categoryId: '7' }, meta: { values: { categoryId: ['bigint'] } } } }
  const headers = { 'idempotency-key': 'streamed' }
  const create = () => sendStreamed(api, { method: 'POST', url: '/trpc/pets.create?batch=1', payload, headers })
  const [first, second] = [await create(), await create()]
  expect([first, second].map(({ headers }) => headers['idempotency-replayed'])).toEqual([undefined, 'true'])
  expect(first.payload).toContain('"name":"Rex"')
  expect(second.payload).toBe(first.payload)
})

test('a streamed response is not that to the same URL which is cached, and no cache confuses them', async () => {
  const api = await startTestApi()
  const [url, authorization] = ['/trpc/pets.list?batch=1', `Bearer ${api.key}`]
  const plain = await api.app.inject({ url, headers: { authorization } })
  const streamed = await sendStreamed(api, { url })
  expect([plain, streamed].map(({ payload }) => payload[0])).toEqual(['[', '{'])
  expect(streamed.headers.vary).toContain('trpc-accept')
})

test('a streamed request with a failed call is counted with 207, because its client needs a successful status', async () => {
  const api = await startTestApi()
  for (const names of ['list', 'nothing', 'list,pets.nothing', 'nothing,pets.nothing'])
    await sendStreamed(api, { url: `/trpc/pets.${names}?batch=1` })
  const counted = async () =>
    samplesIn((await api.rest.get('/metrics')).text)
      .filter(({ name, labels }) => name === 'petstore_request_duration_seconds_count' && labels.adapter === 'rpc')
      .map(({ labels: { operation, status }, value }) => `${operation} ${status}: ${value}`)
  await expect.poll(counted).toEqual(['pets.list 200: 1', 'unknown 207: 1', 'batch 207: 2'])
})
