import { expect, test } from 'vitest'
import { isOnPostgres } from '../support/database.ts'
import { attributesOf, type ExportedSpan } from '../support/trace-collector.ts'
import { startTracedApi } from '../support/traced-api.ts'

test('a create has spans of the request, the procedure, the store, the write queue and the transaction', async () => {
  const { rest, log, collector, stop } = await startTracedApi()
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
  // PostgreSQL commits with the statement.
  const writes = [['write queue'], ['transaction'], ...(isOnPostgres ? [] : [['commit']])]
  expect(namesBelow(spans, request)).toEqual([['pets.create', ['store.pets.create', ...writes]]])
  for (const { startTimeUnixNano: start, endTimeUnixNano: end } of spans) {
    expect(BigInt(end)).toBeGreaterThanOrEqual(BigInt(start))
    expect(Math.abs(Number(BigInt(start) / 1_000_000n) - Date.now())).toBeLessThan(60_000)
  }
  expect(collector.resources()).toContainEqual(expect.objectContaining({ 'service.name': 'test' }))
  const line = log.map((text) => JSON.parse(text)).find(({ msg }) => msg === 'request')
  expect(line).toMatchObject({ traceId: request?.traceId, requestId: response.headers['x-request-id'] })
})

function namesBelow(spans: ExportedSpan[], parent: ExportedSpan | undefined): unknown[] {
  const children = spans.filter(({ parentSpanId }) => parent && parentSpanId === parent.spanId)
  return children.map((span) => [span.name, ...namesBelow(spans, span)])
}
