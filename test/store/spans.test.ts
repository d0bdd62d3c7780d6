import { expect, test } from 'vitest'
import { isOnPostgres, testDatabase } from '../support/database.ts'
import { attributesOf, type ExportedSpan } from '../support/trace-collector.ts'
import { openObserved, startTracedApi } from '../support/traced-api.ts'

test('a create has spans of the request, the procedure, the store, the write queue and the transaction', async () => {
  const { rest, log, collector, stop } = await startTracedApi()
  const response = await rest.post('/v1/pets?status=1', { name: 'Rex', categoryId: 1 })
  await stop()
  const spans = collector.spans()
  const request = spans.find(({ name }) => name === 'POST /v1/pets')
  expect(request?.kind).toBe(2)
  expect(attributesOf({ attributes: request?.attributes ?? [] })).toEqual({
    'http.route': '/v1/pets',
    'http.request.method': 'POST',
    'http.response.status_code': 201,
    'server.address': 'localhost',
    'server.port': 80,
    'url.path': '/v1/pets',
    'url.scheme': 'http',
    'petstore.request_id': response.headers['x-request-id'],
  })
  // PostgreSQL commits with the statement.
  const writes = [['write queue'], ['transaction'], ...(isOnPostgres ? [] : [['commit']])]
  expect(namesBelow(spans, request)).toEqual([['pets.create', ['create pets', ...writes]]])
  const call = spans.find(({ name }) => name === 'create pets')
  expect(call?.kind).toBe(3)
  expect(attributesOf({ attributes: call?.attributes ?? [] })).toEqual({
    'db.system.name': isOnPostgres ? 'postgresql' : 'sqlite',
    'db.operation.name': 'create',
    'db.collection.name': 'pets',
  })
  for (const { startTimeUnixNano: start, endTimeUnixNano: end } of spans) {
    expect(BigInt(end)).toBeGreaterThanOrEqual(BigInt(start))
    expect(Math.abs(Number(BigInt(start) / 1_000_000n) - Date.now())).toBeLessThan(60_000)
  }
  expect(collector.resources()).toContainEqual(expect.objectContaining({ 'service.name': 'petstore' }))
  const line = log.map((text) => JSON.parse(text)).find(({ msg }) => msg === 'request')
  expect(line).toMatchObject({ traceId: request?.traceId, requestId: response.headers['x-request-id'] })
})

test('the trace of a failed request has its cause as an event, without values of the row', async () => {
  const database = await testDatabase()
  const { rest, log, collector, stop } = await startTracedApi({}, {}, (observer) => openObserved(observer, database))
  await database.execute('ALTER TABLE pets RENAME TO gone')
  const pet = { name: 'Rex the secret', categoryId: 1 }
  const input = { json: { ...pet, categoryId: '1' }, meta: { values: { categoryId: ['bigint'] } } }
  const responses = [await rest.post('/v1/pets', pet), await rest.post('/trpc/pets.create', input)]
  await database.execute('ALTER TABLE gone RENAME TO pets')
  expect(responses.map(({ status }) => status)).toEqual([503, 503])
  await stop()
  const spans = collector.spans()
  const requests = spans.filter(({ kind }) => kind === 2)
  expect(requests).toHaveLength(2)
  for (const { status, attributes, events } of requests) {
    expect([status.code, attributesOf({ attributes })['error.type']]).toEqual([2, '503'])
    expect(events.map(({ name, attributes }) => ({ name, ...attributesOf({ attributes }) }))).toEqual([
      {
        name: 'exception',
        'exception.type': 'StoreUnavailable',
        'exception.message': expect.any(String),
        'exception.stacktrace': expect.stringContaining('at '),
      },
    ])
  }
  for (const name of ['pets.create', 'create pets']) {
    const failed = spans.filter((span) => span.name === name)
    expect(failed.map(({ status, attributes }) => [status.code, attributesOf({ attributes })['error.type']])).toEqual([
      [2, 'StoreUnavailable'],
      [2, 'StoreUnavailable'],
    ])
  }
  expect(JSON.stringify(spans) + log.join()).not.toContain('secret')
})

function namesBelow(spans: ExportedSpan[], parent: ExportedSpan | undefined): unknown[] {
  const children = spans.filter(({ parentSpanId }) => parent && parentSpanId === parent.spanId)
  return children.map((span) => [span.name, ...namesBelow(spans, span)])
}
