import { join } from 'node:path'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { createPetstoreClient } from '../../client/index.ts'
import { openStore } from '../../db/open.ts'
import { Tracing } from '../../server/telemetry/tracing.ts'
import { testDatabase } from '../support/database.ts'
import { runPetstore, startServer } from '../support/process.ts'
import { temporaryFolder } from '../support/temporary.ts'
import { startTestApi } from '../support/test-api.ts'
import { attributesOf, type ExportedSpan, startTraceCollector } from '../support/trace-collector.ts'
import { fetchFrom } from '../support/transport.ts'

const traceId = '0af7651916cd43dd8448eb211c80319c'
const parentId = 'b7ad6b7169203331'

/** Starts the service with a collector. `stop` sends all spans to it. */
async function startTraced(sampleRatio = 1) {
  const collector = await startTraceCollector()
  const tracing = new Tracing({ endpoint: collector.url, sampleRatio, serviceName: 'test' }, pino({ level: 'silent' }))
  const { location } = await testDatabase(onTestFinished)
  const store = await openStore(location, { busyTimeout: 1_000, observer: tracing.observer })
  onTestFinished(() => store.close())
  const api = await startTestApi({ store, tracing })
  return { ...api, collector, stop: () => tracing.stop() }
}

function namesBelow(spans: ExportedSpan[], parent: ExportedSpan | undefined): unknown[] {
  const children = spans.filter(({ parentSpanId }) => parent && parentSpanId === parent.spanId)
  return children.map((span) => [span.name, ...namesBelow(spans, span)])
}

test('a create has spans of the request, the procedure, the store, the write queue and the transaction', async () => {
  const { rest, log, collector, stop } = await startTraced()
  const response = await rest.post('/v1/pets', { name: 'Rex', categoryId: 1 })
  await stop()
  const spans = collector.spans()
  const request = spans.find(({ name }) => name === 'POST /v1/pets')
  expect(attributesOf({ attributes: request?.attributes ?? [] })).toEqual({
    'http.route': '/v1/pets',
    'http.request.method': 'POST',
    'http.response.status_code': 201,
    'petstore.request_id': response.headers['x-request-id'],
  })
  const writes = [['write queue'], ['transaction'], ['commit']]
  expect(namesBelow(spans, request)).toEqual([['pets.create', ['store.pets.create', ...writes]]])
  for (const { startTimeUnixNano: start, endTimeUnixNano: end } of spans) {
    expect(BigInt(end)).toBeGreaterThanOrEqual(BigInt(start))
    expect(Math.abs(Number(BigInt(start) / 1_000_000n) - Date.now())).toBeLessThan(60_000)
  }
  expect(collector.resources()).toContainEqual(expect.objectContaining({ 'service.name': 'test' }))
  const line = log.map((text) => JSON.parse(text)).find(({ msg }) => msg === 'request')
  expect(line).toMatchObject({ traceId: request?.traceId, requestId: response.headers['x-request-id'] })
})

test('the request continues the trace of its caller and names its span in the response', async () => {
  const { rest, collector, stop } = await startTraced(0)
  const response = await rest.get('/v1/pets', { traceparent: `00-${traceId}-${parentId}-01` })
  await stop()
  const request = collector.spans().find(({ name }) => name === 'GET /v1/pets')
  expect(request).toMatchObject({ traceId, parentSpanId: parentId })
  expect(response.headers.traceresponse).toBe(`00-${traceId}-${request?.spanId}-01`)
})

test('the typed client sends the trace of its caller, and a batch has a span for each procedure', async () => {
  const { app, key, collector, stop } = await startTraced(0)
  const headers = () => ({ traceparent: `00-${traceId}-${parentId}-01` })
  const rpc = createPetstoreClient({ url: 'http://petstore.test', apiKey: key, fetch: fetchFrom(app), headers })
  await Promise.all([rpc.pets.list.query({ limit: 1 }), rpc.pets.get.query({ petId: 9n }).catch(() => {})])
  await rpc.pets.create.mutate({ name: 'Rex', categoryId: 1n })
  await stop()
  const spans = collector.spans()
  expect(new Set(spans.map((span) => span.traceId))).toEqual(new Set([traceId]))
  const failed = spans.find(({ name }) => name === 'pets.get')
  expect(failed?.status.code).toBe(2)
  expect(spans.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['pets.list', 'store.pets.list', 'store.pets.get', 'pets.create', 'store.pets.createOnce']),
  )
})

test('a request that is not sampled has no span and no traceresponse', async () => {
  const { rest, log, collector, stop } = await startTraced(0)
  const unsampled = { traceparent: `00-${traceId}-${parentId}-00` }
  const responses = [await rest.get('/v1/pets'), await rest.get('/v1/pets', unsampled)]
  await stop()
  expect(responses.map(({ headers }) => headers.traceresponse)).toEqual([undefined, undefined])
  expect(log.join()).not.toContain('traceId')
  expect(collector.spans()).toEqual([])
})

test('health checks and scrapes have no spans', async () => {
  const { rest, collector, stop } = await startTraced()
  for (const path of ['/livez', '/readyz', '/metrics']) expect((await rest.get(path)).status).toBe(200)
  await stop()
  expect(collector.spans()).toEqual([])
})

test('a service with OTEL_EXPORTER_OTLP_ENDPOINT sends its spans before it ends, and another one loads no tracing', async () => {
  const collector = await startTraceCollector()
  const loads = join(import.meta.dirname, '../support/report-tracing.mjs')
  const NODE_OPTIONS = `--import=${loads}`
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_SERVICE_NAME: 'shop', NODE_OPTIONS }
  const [traced, other] = await Promise.all([startServer({ env }), startServer({ env: { NODE_OPTIONS } })])
  for (const server of [traced, other]) {
    expect((await fetch(`${server.url}/v1/pets`)).status).toBe(401)
    server.child.kill('SIGINT')
    expect(await server.ended).toBe(0)
  }
  expect(collector.spans()).toMatchObject([{ name: 'GET /v1/pets' }])
  expect(collector.resources()).toMatchObject([{ 'service.name': 'shop' }])
  expect([traced.stderr, other.stderr].map((text) => text.includes('loads @opentelemetry/sdk-trace'))).toEqual([
    true,
    false,
  ])
})

test('a collector that does not respond neither fails requests nor the stop, and is reported', async () => {
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', OTEL_EXPORTER_OTLP_TIMEOUT: '500' }
  const server = await startServer({ env })
  expect((await fetch(`${server.url}/v1/pets`)).status).toBe(401)
  server.child.kill('SIGINT')
  expect(await server.ended).toBe(0)
  expect(server.stdout).toContain('tracing: ')
})

test('a share of requests that is no number from 0 to 1 is refused', async () => {
  const run = runPetstore({
    folder: temporaryFolder(),
    env: { OTEL_TRACES_SAMPLER_ARG: '1.5', OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' },
  })
  expect(await run.ended).toBe(1)
  expect(run.stderr).toContain('OTEL_TRACES_SAMPLER_ARG: expected a number from 0 to 1')
  expect(run.stderr).toContain('OTEL_EXPORTER_OTLP_ENDPOINT: expected an http or https URL')
})
