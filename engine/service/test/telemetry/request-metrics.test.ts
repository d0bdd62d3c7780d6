import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createKey, listen, mintApiKey, product, startTestApi, type TestApi } from '../../../test/notes/fixtures.ts'
import { readMetric, samplesIn, seriesIn } from '../../../test/support/metrics.ts'
import { openSocket } from '../../../test/support/raw-http.ts'
import type { RestClient } from '../../../test/support/rest-client.ts'
import { createMetrics } from '../../telemetry/metrics.ts'

const newNote = { body: 'Ann', priority: 7 }

test('a request is counted by adapter, procedure and status', async () => {
  const { rest, rpc } = await startTestApi()
  await rest.post('/v1/notes', newNote)
  await rest.post('/v1/notes', {})
  await rest.get('/v1/notes')
  await rest.send({ method: 'HEAD', url: '/v1/notes' })
  await rest.get('/v1/notes/1')
  await rest.get('/v1/notes/2')
  await rpc.notes.list.query()
  await rpc.notes.create.mutate({ ...newNote, priority: 7n })
  expect(countsIn(await scrape(rest))).toEqual({
    'rest notes.create 201': 1,
    'rest notes.create 400': 1,
    'rest notes.list 200': 2,
    'rest notes.get 200': 1,
    'rest notes.get 404': 1,
    'rpc notes.list 200': 1,
    'rpc notes.create 200': 1,
  })
})

test('an RPC batch of several calls is one request, whatever it calls', async () => {
  const { rest } = await startTestApi()
  await rest.get(`/trpc/notes.list,notes.nothing?batch=1&input=${encodeURIComponent('{}')}`)
  await rest.get(`/trpc/notes.list?batch=1&input=${encodeURIComponent('{}')}`)
  await rest.get('/trpc/notes.nothing')
  expect(countsIn(await scrape(rest))).toEqual({
    'rpc batch 207': 1,
    'rpc notes.list 200': 1,
    'rpc unknown 404': 1,
  })
})

test('other requests have fixed names', async () => {
  const metrics = createMetrics(product)
  const { rest } = await startTestApi({ metrics })
  for (const url of ['/', '/openapi.json', '/docs', '/docs/', '/livez', '/readyz', '/metrics']) await rest.get(url)
  for (const url of ['/nowhere', '/v1/nowhere', '/%zz']) await rest.get(url)
  for (const url of ['/v1/notes', '/', '/trpc/notes.list']) await rest.send({ method: 'OPTIONS', url })
  await rest.send({ method: 'DELETE', url: '/v1/notes' })
  expect(countsIn(await metrics.text())).toEqual({
    'http console 302': 1,
    'http document 200': 1,
    'http reference 301': 1,
    'http reference 302': 1,
    'http health 200': 2,
    'http metrics 200': 1,
    'http unknown 404': 2,
    'http unknown 400': 1,
    'http other_method 204': 3,
    'http other_method 405': 1,
  })
})

test('the duration is in seconds', async () => {
  const { rest, store } = await startTestApi()
  const { list } = store.notes
  store.notes.list = (page) => wait(100).then(() => list(page))
  const begin = performance.now()
  await rest.get('/v1/notes')
  const elapsed = (performance.now() - begin) / 1_000
  const seconds = readMetric(await scrape(rest), 'notes_request_duration_seconds_sum') ?? 0
  expect(seconds).toBeGreaterThan(0.09)
  expect(seconds).toBeLessThan(elapsed)
})

test('rejected requests are counted by reason, from 0 on', async () => {
  const { rest, store } = await startTestApi({ config: { rateLimit: { requests: 2, seconds: 60 } } })
  const authorization = `Bearer ${await createKey(store, 'other')}`
  for (let i = 0; i < 5; i++) await rest.get('/v1/notes', { authorization })
  await rest.get('/v1/notes', { authorization: '' })
  const none = { malformed: 0, unknown: 0, revoked: 0, expired: 0, overloaded: 0 }
  expect(await rejectionsIn(rest)).toEqual({ ...none, missing: 1, rate_limited: 3 })
})

test('lookups in the caches are counted', async () => {
  const { rest, rpc } = await startTestApi()
  for (let i = 0; i < 4; i++) await rest.get('/v1/notes')
  for (let i = 0; i < 3; i++) await rpc.notes.list.query()
  const text = await scrape(rest)
  const lookups = (cache: string) =>
    ['hits', 'misses'].map((result) => readMetric(text, `notes_cache_${result}_total`, { cache }))
  // A page is kept when it is requested for the second time.
  expect(lookups('rest_responses')).toEqual([2, 2])
  expect(lookups('rpc_responses')).toEqual([1, 2])
  // The eighth lookup is that of the scrape.
  expect(lookups('api_keys')).toEqual([7, 1])
})

test('requests in flight, the scrape included, and aborted requests are counted', async () => {
  const { url, authorization, rest, store } = await listen()
  store.notes.get = () => new Promise(() => {})
  const state = async () => {
    const text = await scrape(rest)
    return ['in_flight', 'aborted_total'].map((name) => readMetric(text, `notes_requests_${name}`))
  }
  const socket = await openSocket(url)
  socket.write(`GET /v1/notes/1 HTTP/1.1\r\nHost: a\r\n${authorization}\r\n`)
  await expect.poll(state).toEqual([2, 0])
  socket.resetAndDestroy()
  await expect.poll(state).toEqual([1, 1])
  const response = await fetch(`${url}/livez`)
  await response.text()
  // The connection is still open.
  await expect.poll(state).toEqual([1, 1])
})

test('a thousand hostile requests add no series', async () => {
  const metrics = createMetrics(product)
  const api = await startTestApi({ metrics })
  // With the errors that the requests cause, the series exist.
  for (let i = 0; i < 20; i++) await sendHostile(api, `first${i}`, i)
  const before = seriesIn(await metrics.text())
  for (let i = 0; i < 1_000; i++) await sendHostile(api, `${i}-${mintApiKey().slice(4, 12)}`, i)
  expect(seriesIn(await metrics.text())).toEqual(before)
  expect(before.length).toBeLessThan(500)
})

const methods = ['GET', 'POST', 'PUT', 'DELETE', 'PURGE', 'PROPFIND', 'OPTIONS', 'HEAD'] as const

async function sendHostile({ rest }: TestApi, text: string, i: number): Promise<void> {
  const url = [
    `/${text}`,
    `/v1/notes/${text}`,
    `/v1/${text}`,
    `/trpc/${text}`,
    `/trpc/notes.list,${text}?batch=1`,
    `/metrics/${text}`,
    `/docs/${text}`,
    `/%zz${text}`,
    `/v1/notes?status=${text}`,
    `/trpc/notes.${text}?input=${text}`,
  ][i % 10]
  const headers: Record<string, string> =
    i % 20 < 10 ? { authorization: `Bearer note_${text}`, 'idempotency-key': text } : {}
  await rest.send({ method: methods[(i % 20) % methods.length] ?? 'GET', url: url ?? '/', headers })
}

async function scrape(rest: RestClient): Promise<string> {
  const { status, text } = await rest.get('/metrics')
  expect(status).toBe(200)
  return text
}

async function rejectionsIn(rest: RestClient): Promise<Record<string, number>> {
  const samples = samplesIn(await scrape(rest)).filter(({ name }) => name === 'notes_requests_rejected_total')
  return Object.fromEntries(samples.map(({ labels, value }) => [labels.reason, value]))
}

/** The number of requests by adapter, operation and status. */
function countsIn(text: string): Record<string, number> {
  const samples = samplesIn(text).filter(({ name }) => name === 'notes_request_duration_seconds_count')
  return Object.fromEntries(
    samples.map(({ labels, value }) => [`${labels.adapter} ${labels.operation} ${labels.status}`, value]),
  )
}
