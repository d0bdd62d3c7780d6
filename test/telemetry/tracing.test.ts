import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createPetstoreClient } from '../../client/index.ts'
import manifest from '../../package.json' with { type: 'json' }
import { seriesIn } from '../support/metrics.ts'
import { startServer } from '../support/process.ts'
import type { RestClient } from '../support/rest-client.ts'
import { startTraceCollector } from '../support/trace-collector.ts'
import { startTracedApi } from '../support/traced-api.ts'
import { fetchFrom } from '../support/transport.ts'

const traceId = '0af7651916cd43dd8448eb211c80319c'
const parentId = 'b7ad6b7169203331'

test('the request continues the trace of its caller and names its span in the response', async () => {
  const { rest, collector, stop } = await startTracedApi({ sampleRatio: 0 })
  const response = await rest.get('/v1/pets', { traceparent: `00-${traceId}-${parentId}-01` })
  await stop()
  const request = collector.spans().find(({ name }) => name === 'GET /v1/pets')
  expect(request).toMatchObject({ traceId, parentSpanId: parentId })
  expect(response.headers.traceresponse).toBe(`00-${traceId}-${request?.spanId}-01`)
})

test('the typed client sends the trace of its caller, and a batch has a span for each procedure', async () => {
  const { app, key, collector, stop } = await startTracedApi({ sampleRatio: 0 })
  const headers = () => ({ traceparent: `00-${traceId}-${parentId}-01` })
  const rpc = createPetstoreClient({ url: 'http://petstore.test', apiKey: key, fetch: fetchFrom(app), headers })
  await Promise.all([rpc.pets.list.query({ limit: 1 }), rpc.pets.get.query({ petId: 9n }).catch(() => {})])
  await rpc.pets.create.mutate({ name: 'Rex', categoryId: 1n })
  await stop()
  const spans = collector.spans()
  expect(new Set(spans.map((span) => span.traceId))).toEqual(new Set([traceId]))
  expect(spans.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['pets.list', 'list pets', 'get pets', 'pets.create', 'create pets']),
  )
})

test('a request that is not sampled has no span and no traceresponse', async () => {
  const { rest, log, collector, stop } = await startTracedApi({ sampleRatio: 0 })
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

describe('a caller without a valid API key', () => {
  const headers = (id: string) => ({ authorization: 'Bearer none', traceparent: `00-${id}-${parentId}-01` })
  const requests = (rest: RestClient, id: string) =>
    Promise.all(['/v1/pets', '/trpc/pets.list', '/docs', '/none', '/'].map((path) => rest.get(path, headers(id))))

  test.for(['parentbased_traceidratio', 'traceidratio'] as const)('cannot force a trace with %s', async (sampler) => {
    const { rest, collector, stop } = await startTracedApi({ sampler, sampleRatio: 0.000_000_1 })
    // The sampler accepts this id at any share.
    await requests(rest, '00000001000000010000000100000001')
    await stop()
    expect(collector.spans()).toEqual([])
  })

  test('can neither prevent a trace nor add to one', async () => {
    const { rest, collector, stop } = await startTracedApi()
    const responses = await requests(rest, traceId)
    await rest.get('/v1/pets', { authorization: '', traceparent: `00-${traceId}-${parentId}-00` })
    await stop()
    const spans = collector.spans()
    expect(spans.map(({ parentSpanId }) => parentSpanId)).toEqual(spans.map(() => ''))
    expect(spans).toHaveLength(responses.length + 1)
    expect(spans.map((span) => span.traceId)).not.toContain(traceId)
    expect(responses.map((response) => response.headers.traceresponse)).not.toContain(undefined)
  })
})

test.for([
  ['always_on', true, true, true],
  ['always_off', false, false, false],
  ['traceidratio', false, false, false],
  ['parentbased_always_on', true, false, true],
  ['parentbased_always_off', false, false, true],
  ['parentbased_traceidratio', false, false, true],
] as const)('%s follows the specification', async ([sampler, root, unsampled, sampled]) => {
  const { rest, collector, stop } = await startTracedApi({ sampler, sampleRatio: 0 })
  for (const headers of [{}, ...['00', '01'].map((flags) => ({ traceparent: `00-${traceId}-${parentId}-${flags}` }))]) {
    await rest.get('/v1/pets', headers)
  }
  await stop()
  const requests = collector.spans().filter(({ name }) => name === 'GET /v1/pets')
  expect(requests).toHaveLength([root, unsampled, sampled].filter(Boolean).length)
  expect(requests.filter((span) => span.traceId === traceId)).toHaveLength([unsampled, sampled].filter(Boolean).length)
})

test('an error of the client is no error of a span', async () => {
  const { rest, collector, stop } = await startTracedApi()
  const statuses = []
  for (const path of ['/v1/pets/9', '/v1/pets?limit=0', '/trpc/pets.get?input={}', '/none'])
    statuses.push((await rest.get(path)).status)
  statuses.push((await rest.get('/v1/pets', { authorization: 'Bearer none' })).status)
  await stop()
  expect(statuses).toEqual([404, 400, 400, 404, 401])
  const spans = collector.spans()
  expect(spans.map(({ name }) => name)).toEqual(expect.arrayContaining(['pets.get', 'get pets', 'GET /v1/pets']))
  for (const { status, events, attributes } of spans) {
    expect([status.code ?? 0, events]).toEqual([0, []])
    expect(attributes.map(({ key }) => key)).not.toContain('error.type')
  }
})

test('a traced request is the exemplar of its duration in OpenMetrics, and the plain format has none', async () => {
  const { rest } = await startTracedApi({ sampleRatio: 0 })
  await rest.get('/v1/pets', { traceparent: `00-${traceId}-${parentId}-01` })
  await rest.get('/v1/pets?limit=1')
  const scrape = async (accept: string) => (await rest.get('/metrics', { accept })).text
  const [open, plain] = [await scrape('application/openmetrics-text'), await scrape('text/plain')]
  const exemplars = open.split('\n').filter((line) => line.includes(' # {'))
  expect(exemplars).toEqual([
    expect.stringMatching(
      new RegExp(
        `^petstore_request_duration_seconds_bucket{.*operation="pets.list".*} \\d+ # {trace_id="${traceId}"} [\\d.e-]+ [\\d.]+$`,
      ),
    ),
  ])
  expect(plain).not.toContain(traceId)
  expect(seriesIn(plain)).toEqual(seriesIn(open.replaceAll(/ # {.*$/gm, '')))
})

test('health checks and scrapes have no spans', async () => {
  const { rest, collector, stop } = await startTracedApi()
  for (const path of ['/livez', '/readyz', '/metrics']) expect((await rest.get(path)).status).toBe(200)
  await stop()
  expect(collector.spans()).toEqual([])
})

test('a service with a collector sends its spans before it ends, and another one loads no tracing', async () => {
  const collector = await startTraceCollector()
  const loads = join(import.meta.dirname, '../support/report-tracing.mjs')
  const NODE_OPTIONS = `--import=${loads}`
  const env = {
    NODE_OPTIONS,
    OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/`,
    OTEL_EXPORTER_OTLP_HEADERS: 'a=1,b=2',
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'b=%2C',
    OTEL_RESOURCE_ATTRIBUTES: 'service.name=store,deployment.environment.name=a%3Db',
    OTEL_SERVICE_NAME: 'shop',
  }
  const [traced, other] = await Promise.all([startServer({ env }), startServer({ env: { NODE_OPTIONS } })])
  for (const server of [traced, other]) {
    await respondsToPets(server.url)
    server.child.kill('SIGINT')
    expect(await server.ended).toBe(0)
  }
  expect(new Set(collector.spans().map(({ name }) => name))).toEqual(new Set(['GET /v1/pets']))
  expect(collector.resources()[0]).toMatchObject({
    'deployment.environment.name': 'a=b',
    'service.instance.id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    'service.name': 'shop',
    'service.version': manifest.version,
    'telemetry.sdk.language': 'nodejs',
  })
  expect(collector.headers()[0]).toMatchObject({ a: '1', b: ',', 'content-type': 'application/x-protobuf' })
  expect([traced.stderr, other.stderr].map((text) => text.includes('loads @opentelemetry/sdk-trace'))).toEqual([
    true,
    false,
  ])
})

/** Waits for the 401 of a request without a key. On a busy machine, a service that has just started sheds requests. */
async function respondsToPets(url: string): Promise<void> {
  await expect.poll(async () => (await fetch(`${url}/v1/pets`)).status).toBe(401)
}
