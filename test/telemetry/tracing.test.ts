import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createPetstoreClient } from '../../client/index.ts'
import { runPetstore, startServer } from '../support/process.ts'
import { temporaryFolder } from '../support/temporary.ts'
import { startTraceCollector } from '../support/trace-collector.ts'
import { startTracedApi } from '../support/traced-api.ts'
import { fetchFrom } from '../support/transport.ts'

const traceId = '0af7651916cd43dd8448eb211c80319c'
const parentId = 'b7ad6b7169203331'

test('the request continues the trace of its caller and names its span in the response', async () => {
  const { rest, collector, stop } = await startTracedApi(0)
  const response = await rest.get('/v1/pets', { traceparent: `00-${traceId}-${parentId}-01` })
  await stop()
  const request = collector.spans().find(({ name }) => name === 'GET /v1/pets')
  expect(request).toMatchObject({ traceId, parentSpanId: parentId })
  expect(response.headers.traceresponse).toBe(`00-${traceId}-${request?.spanId}-01`)
})

test('the typed client sends the trace of its caller, and a batch has a span for each procedure', async () => {
  const { app, key, collector, stop } = await startTracedApi(0)
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
    expect.arrayContaining(['pets.list', 'store.pets.list', 'store.pets.get', 'pets.create', 'store.pets.create']),
  )
})

test('a request that is not sampled has no span and no traceresponse', async () => {
  const { rest, log, collector, stop } = await startTracedApi(0)
  const unsampled = { traceparent: `00-${traceId}-${parentId}-00` }
  // A caller cannot have its request traced by a malformed header.
  const malformed = { traceparent: '00-1-1-01' }
  const responses = []
  for (const headers of [{}, unsampled, malformed]) responses.push(await rest.get('/v1/pets', headers))
  await stop()
  expect(responses.map(({ headers }) => headers.traceresponse)).toEqual([undefined, undefined, undefined])
  expect(log.join()).not.toContain('traceId')
  expect(collector.spans()).toEqual([])
})

test('health checks and scrapes have no spans', async () => {
  const { rest, collector, stop } = await startTracedApi()
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
    await respondsToPets(server.url)
    server.child.kill('SIGINT')
    expect(await server.ended).toBe(0)
  }
  expect(new Set(collector.spans().map(({ name }) => name))).toEqual(new Set(['GET /v1/pets']))
  expect(collector.resources()[0]).toMatchObject({ 'service.name': 'shop' })
  expect([traced.stderr, other.stderr].map((text) => text.includes('loads @opentelemetry/sdk-trace'))).toEqual([
    true,
    false,
  ])
})

/** Waits for the 401 of a request without a key. On a busy machine, a service that has just started sheds requests. */
async function respondsToPets(url: string): Promise<void> {
  await expect.poll(async () => (await fetch(`${url}/v1/pets`)).status).toBe(401)
}

test('a share of requests that is no number from 0 to 1 is refused', async () => {
  const run = runPetstore({
    folder: temporaryFolder(),
    env: { OTEL_TRACES_SAMPLER_ARG: '1.5', OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' },
  })
  expect(await run.ended).toBe(1)
  expect(run.stderr).toContain('OTEL_TRACES_SAMPLER_ARG: expected a number from 0 to 1')
  expect(run.stderr).toContain('OTEL_EXPORTER_OTLP_ENDPOINT: expected an http or https URL')
})
