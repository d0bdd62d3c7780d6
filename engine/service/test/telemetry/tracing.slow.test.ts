import { Readable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { SpanStatusCode } from '@opentelemetry/api'
import { hrTimeToMilliseconds } from '@opentelemetry/core'
import { describe, expect, test } from 'vitest'
import type { WithApiKeys } from '../../../store/keys.ts'
import { createNotesClient, startServer, startTracedApi } from '../../../test/notes/fixtures.ts'
import { waitForOutput } from '../../../test/support/process.ts'
import type { RestClient } from '../../../test/support/rest-client.ts'
import { fetchFrom } from '../../../test/support/transport.ts'
import { createTrpc } from '../../procedures/trpc.ts'

const traceId = '0af7651916cd43dd8448eb211c80319c'
const parentId = 'b7ad6b7169203331'

test('the request continues the trace of its caller and names its span in the response', async () => {
  const { rest, spans } = await startTracedApi({ ratio: 0 })
  const response = await rest.get('/v1/notes', { traceparent: `00-${traceId}-${parentId}-01` })
  const request = spans().find(({ name }) => name === 'GET /v1/notes')
  expect(request?.parentSpanContext).toMatchObject({ traceId, spanId: parentId })
  expect(response.headers.traceresponse).toBe(`00-${traceId}-${request?.spanContext().spanId}-01`)
})

test('the typed client sends the trace of its caller, and a batch has a span for each procedure', async () => {
  const { app, key, spans } = await startTracedApi({ ratio: 0 })
  const headers = () => ({ traceparent: `00-${traceId}-${parentId}-01` })
  const rpc = createNotesClient({ url: 'http://service.test', apiKey: key, fetch: fetchFrom(app), headers })
  await Promise.all([rpc.notes.list.query({ limit: 1 }), rpc.notes.get.query({ noteId: 9n }).catch(() => {})])
  await rpc.notes.create.mutate({ body: 'Ann', priority: 1n })
  expect(new Set(spans().map((span) => span.spanContext().traceId))).toEqual(new Set([traceId]))
  expect(spans().map(({ name }) => name)).toEqual(
    expect.arrayContaining(['notes.list', 'list notes', 'get notes', 'notes.create', 'create notes']),
  )
})

test('the calls of a traced batch keep their idempotency keys', async () => {
  const { rest, store } = await startTracedApi()
  const call = { json: { body: 'Ann', priority: '7' }, meta: { values: { priority: ['bigint'] } } }
  const headers = { 'idempotency-key': '"a", "b"' }
  const create = () => rest.post('/trpc/notes.create,notes.create?batch=1', { 0: call, 1: call }, headers)
  const [first, second] = [await create(), await create()]
  expect(second).toMatchObject({ status: 200, text: first.text, headers: { 'idempotency-replayed': 'true, true' } })
  expect(await store.notes.list({ limit: 3, cursor: 0n })).toHaveLength(2)
})

test('the span of a request lasts from its arrival, before its body, to its response', async () => {
  const { app, key, spans } = await startTracedApi()
  async function* body() {
    await wait(100)
    yield '{"body":"Ann","priority":7}'
  }
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const begin = Date.now()
  await app.inject({ method: 'POST', url: '/v1/notes', headers, payload: Readable.from(body()) })
  const end = Date.now()
  const request = spans().find(({ name }) => name === 'POST /v1/notes')
  const [from = 0, to = 0] = [request?.startTime, request?.endTime].map((time) => time && hrTimeToMilliseconds(time))
  // The times are rounded.
  expect(from).toBeGreaterThan(begin - 2)
  expect(to).toBeLessThan(end + 2)
  expect(to - from).toBeGreaterThan(90)
})

test('a request that is not sampled has no span and no traceresponse', async () => {
  const { rest, log, spans } = await startTracedApi({ ratio: 0 })
  const unsampled = { traceparent: `00-${traceId}-${parentId}-00` }
  // A caller cannot have its request traced by a malformed header.
  const malformed = { traceparent: '00-1-1-01' }
  const responses = []
  for (const headers of [{}, unsampled, malformed]) responses.push(await rest.get('/v1/notes', headers))
  expect(responses.map(({ headers }) => headers.traceresponse)).toEqual([undefined, undefined, undefined])
  expect(log.join()).not.toContain('traceId')
  expect(spans()).toEqual([])
})

describe('a caller without a valid API key', () => {
  const headers = { authorization: 'Bearer none', traceparent: `00-${traceId}-${parentId}-01` }
  const requests = (rest: RestClient) =>
    Promise.all(['/v1/notes', '/trpc/notes.list', '/docs', '/none', '/'].map((path) => rest.get(path, headers)))

  test('cannot force a trace', async () => {
    const { rest, spans } = await startTracedApi({ ratio: 0 })
    await requests(rest)
    expect(spans()).toEqual([])
  })

  test('can neither prevent a trace nor add to one', async () => {
    const { rest, spans } = await startTracedApi()
    const responses = await requests(rest)
    await rest.get('/v1/notes', { authorization: '', traceparent: `00-${traceId}-${parentId}-00` })
    expect(spans()).toHaveLength(responses.length + 1)
    for (const { parentSpanContext } of spans()) expect(parentSpanContext).toBeUndefined()
    expect(spans().map((span) => span.spanContext().traceId)).not.toContain(traceId)
    expect(responses.map((response) => response.headers.traceresponse)).not.toContain(undefined)
  })
})

test('an error of the client is no error of a span', async () => {
  const { rest, spans } = await startTracedApi()
  const statuses = []
  for (const path of ['/v1/notes/9', '/v1/notes?limit=0', '/trpc/notes.get?input={}', '/none'])
    statuses.push((await rest.get(path)).status)
  statuses.push((await rest.get('/v1/notes', { authorization: 'Bearer none' })).status)
  expect(statuses).toEqual([404, 400, 400, 404, 401])
  expect(spans().map(({ name }) => name)).toEqual(expect.arrayContaining(['notes.get', 'get notes', 'GET /v1/notes']))
  for (const { status, events, attributes } of spans()) {
    expect([status.code, events]).toEqual([SpanStatusCode.UNSET, []])
    expect(attributes).not.toHaveProperty('error.type')
  }
})

test('what a store returns at once is no promise in a traced call', async () => {
  const { mutation, router } = createTrpc<WithApiKeys>()
  const ignored = mutation({ idempotencyKey: 'ignored' })
  const kindOf = ignored.mutation(({ ctx }) => typeof ctx.store.apiKeys.revision())
  const { rest, spans } = await startTracedApi({ router: router({ kindOf }) })
  expect((await rest.post('/trpc/kindOf', undefined)).body).toMatchObject({ result: { data: { json: 'number' } } })
  expect(spans().map(({ name }) => name)).toContain('kindOf')
})

test('health checks and scrapes have no spans', async () => {
  const { rest, spans } = await startTracedApi()
  for (const path of ['/livez', '/readyz', '/metrics']) expect((await rest.get(path)).status).toBe(200)
  expect(spans()).toEqual([])
})

test.for([true, false])('a process traces its requests if an SDK is registered: %s', async (isRegistered) => {
  const preload = new URL('../../../test/support/register-sdk.mjs', import.meta.url)
  const server = await startServer({ env: isRegistered ? { NODE_OPTIONS: `--import=${preload}` } : {} })
  // On a busy machine, a service that has just started sheds requests.
  await expect.poll(async () => (await fetch(`${server.url}/v1/notes`)).status).toBe(401)
  const { headers } = await fetch(`${server.url}/v1/notes`)
  expect(headers.has('traceresponse')).toBe(isRegistered)
})

test('the log says that an SDK is ignored whose copy of the API is older', async () => {
  const preload = "globalThis[Symbol.for('opentelemetry.js.api.1')] = { version: '1.9.1', trace: {} }"
  const server = await startServer({
    env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(preload)}` },
  })
  expect(await waitForOutput(server, /"warn".*Requests are not traced: .* version (\S+) of/)).toBe('1.9.1')
})
