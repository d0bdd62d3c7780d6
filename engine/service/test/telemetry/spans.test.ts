import { SpanKind, SpanStatusCode } from '@opentelemetry/api'
import { hrTimeToMilliseconds } from '@opentelemetry/core'
import { expect, test } from 'vitest'
import { testDatabase } from '../../../test/notes/database.ts'
import { startTracedApi } from '../../../test/notes/fixtures.ts'
import { isOnPostgres } from '../../../test/support/database.ts'

test('a create has spans of the request, the procedure and the store', async () => {
  const { rest, log, spans } = await startTracedApi()
  const response = await rest.post('/v1/notes?status=1', { body: 'Ann', priority: 1 })
  const [store, procedure, request] = spans()
  expect([store, procedure, request].map((span) => [span?.name, span?.parentSpanContext?.spanId])).toEqual([
    ['create notes', procedure?.spanContext().spanId],
    ['notes.create', request?.spanContext().spanId],
    ['POST /v1/notes', undefined],
  ])
  expect(spans()).toHaveLength(3)
  expect(request).toMatchObject({
    kind: SpanKind.SERVER,
    attributes: {
      'http.route': '/v1/notes',
      'http.request.method': 'POST',
      'http.response.status_code': 201,
      'server.address': 'localhost',
      'server.port': 80,
      'url.path': '/v1/notes',
      'url.scheme': 'http',
      'notes.request_id': response.headers['x-request-id'],
    },
  })
  expect(store).toMatchObject({
    kind: SpanKind.CLIENT,
    attributes: {
      'db.system.name': isOnPostgres ? 'postgresql' : 'sqlite',
      'db.operation.name': 'create',
      'db.collection.name': 'notes',
    },
  })
  const durations = [request, procedure, store].map((span) => hrTimeToMilliseconds(span?.duration ?? [0, 0]))
  expect(durations).toEqual(durations.toSorted((a, b) => b - a))
  expect(Math.abs(hrTimeToMilliseconds(request?.startTime ?? [0, 0]) - Date.now())).toBeLessThan(60_000)
  const line = log.map((text) => JSON.parse(text)).find(({ msg }) => msg === 'request')
  expect(line).toMatchObject({ traceId: request?.spanContext().traceId, requestId: response.headers['x-request-id'] })
})

test('the trace of a failed request has its cause as an event, without values of the row', async () => {
  const database = await testDatabase()
  const { rest, log, spans } = await startTracedApi({ store: await database.open() })
  await database.execute('ALTER TABLE notes RENAME TO gone')
  const note = { body: 'Ann the secret', priority: 1 }
  const input = { json: { ...note, priority: '1' }, meta: { values: { priority: ['bigint'] } } }
  const responses = [await rest.post('/v1/notes', note), await rest.post('/trpc/notes.create', input)]
  await database.execute('ALTER TABLE gone RENAME TO notes')
  expect(responses.map(({ status }) => status)).toEqual([503, 503])
  const requests = spans().filter(({ kind }) => kind === SpanKind.SERVER)
  expect(requests).toHaveLength(2)
  for (const { status, attributes, events } of requests) {
    expect([status.code, attributes['error.type']]).toEqual([SpanStatusCode.ERROR, '503'])
    expect(events).toMatchObject([
      {
        name: 'exception',
        attributes: {
          'exception.type': 'StoreUnavailable',
          'exception.message': expect.any(String),
          'exception.stacktrace': expect.stringContaining('at '),
        },
      },
    ])
  }
  for (const name of ['notes.create', 'create notes']) {
    const failed = spans().filter((span) => span.name === name)
    expect(failed.map(({ status, attributes }) => [status.code, attributes['error.type']])).toEqual([
      [SpanStatusCode.ERROR, 'StoreUnavailable'],
      [SpanStatusCode.ERROR, 'StoreUnavailable'],
    ])
  }
  const shown = spans().map(({ name, attributes, events }) => ({ name, attributes, events }))
  expect(JSON.stringify(shown) + log.join()).not.toContain('secret')
})
