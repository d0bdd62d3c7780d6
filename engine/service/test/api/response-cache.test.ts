import { createHook } from 'node:async_hooks'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { addNotes, apiKeyRecord, mintApiKey, startTestApi } from '../../../test/notes/fixtures.ts'
import { query, router } from '../../../test/notes/trpc.ts'
import { temporarilyUnavailable } from '../../api/errors.ts'

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

test.for(adapters)(
  '%s: a query that opts in is cached from the second request on, until the store changes',
  async ([, ownUrl, url]) => {
    const { rest, store, calls } = await startService()
    for (const seen of ['["own 1"]', '["own 2"]', '["own 3"]']) expect((await rest.get(ownUrl)).text).toContain(seen)
    for (const seen of ['["1"]', '["2"]', '["2"]', '["2"]']) expect((await rest.get(url)).text).toContain(seen)
    expect(calls()).toBe(2)
    await store.notes.create({ body: 'Ann', priority: 1n, state: 'done' })
    for (const seen of ['["3"]', '["3"]']) expect((await rest.get(url)).text).toContain(seen)
  },
)

test.for(adapters)('%s: a failure of a query that opts in is not cached', async ([, , url]) => {
  const { rest } = await startService({ failures: 2 })
  for (const isFailure of [true, true, false]) expect((await rest.get(url)).status >= 500).toBe(isFailure)
})

test('500 other URLs make the cache forget that a URL was requested', async () => {
  const { rest, calls } = await startService()
  // More, because a busy machine may refuse some.
  for (let i = 0; i < 600; i++) await rest.get(`/v1/cached?n=${i}`)
  const before = calls()
  await rest.get('/v1/cached?n=0')
  await rest.get('/v1/cached?n=0')
  expect(calls()).toBe(before + 2)
  await rest.get('/v1/cached?n=0')
  expect(calls()).toBe(before + 2)
})

test('a batch is cached only if all of its procedures opt in', async () => {
  const { rest, store, calls } = await startService()
  const key = mintApiKey()
  const second = { authorization: `Bearer ${key}` }
  // Marks the key as used. Otherwise its first request would record the use, and so change the store.
  await store.apiKeys.touch(await store.apiKeys.create(apiKeyRecord(key, 'second')), new Date())
  for (const paths of ['cached,own', 'own,cached']) {
    for (const headers of [{}, {}, second]) await rest.get(`/trpc/${paths}?batch=1&input=${input}`, headers)
  }
  expect(calls()).toBe(6)
  for (const headers of [{}, {}, second, second]) {
    expect((await rest.get(`/trpc/cached,cached?batch=1&input=${input}`, headers)).status).toBe(200)
  }
  expect(calls()).toBe(10)
})

test.for(['/v1/notes', '/trpc/notes.list'])(
  '%s is short, so it is compressed only from the cache, once for each coding',
  async (url) => {
    const { app, key, store } = await startTestApi()
    await addNotes(store, 20)
    const get = (encoding: string) =>
      app.inject({ url, headers: { authorization: `Bearer ${key}`, 'accept-encoding': encoding } })
    const [first, second] = [await get('br'), await get('br')]
    for (const { headers } of [first, second]) expect(headers).not.toHaveProperty('content-encoding')

    const compressions = countCompressions()
    const concurrent = Array.from({ length: 20 }, () => Promise.all([get('br'), get('gzip')]))
    const responses = [...(await Promise.all(concurrent)), [await get('br'), await get('gzip')] as const]
    expect(compressions.count).toBe(2)
    for (const [brotli, gzip] of responses) {
      expect(brotliDecompressSync(brotli.rawPayload).equals(first.rawPayload)).toBe(true)
      expect(gunzipSync(gzip.rawPayload).equals(first.rawPayload)).toBe(true)
      for (const { headers } of [brotli, gzip])
        expect([headers.etag, headers.vary]).toEqual([first.headers.etag, first.headers.vary])
    }
  },
)

/** Counts the compressions and decompressions that begin until the end of the test. */
function countCompressions(): { count: number } {
  const seen = { count: 0 }
  const hook = createHook({
    init(_id, type) {
      if (type === 'ZLIB') seen.count++
    },
  }).enable()
  onTestFinished(() => void hook.disable())
  return seen
}

/** Two queries that count their calls. One of them opts in, and its first calls may fail. */
async function startService({ failures = 0 } = {}) {
  let [own, count] = [0, 0]
  const routes = router({
    own: query(get('/own'))
      .input(z.object({}))
      .output(Names)
      .query(() => [`own ${++own}`]),
    cached: query({ ...get('/cached'), cache: true })
      .input(z.object({}))
      .output(Names)
      .query(() => {
        if (++count <= failures) throw temporarilyUnavailable('Try again.')
        return [String(count)]
      }),
  })
  const { rest, store } = await startTestApi({ router: routes })
  return { rest, store, calls: () => count }
}
