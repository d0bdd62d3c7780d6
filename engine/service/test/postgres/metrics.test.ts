import { expect, onTestFinished, test } from 'vitest'
import { StoreUnavailable } from '../../../store/collection/errors.ts'
import { openPostgres } from '../../../test/notes/database.ts'
import { apiKeyRecord, mintApiKey, product, startTestApi } from '../../../test/notes/fixtures.ts'
import type { NewNote } from '../../../test/notes/tables.ts'
import { readMetric, writeFailuresIn } from '../../../test/support/metrics.ts'
import { countWaiting, emptyDatabase, endSessions, lockTable } from '../../../test/support/postgres/databases.ts'
import { startProxy } from '../../../test/support/postgres/proxy.ts'
import { createMetrics, type Metrics } from '../../telemetry/metrics.ts'

const newNote: NewNote = { body: 'Ann', priority: 7n, state: 'done' }

test('creates are measured by transaction, without a COMMIT of their own', async () => {
  const { metrics, store } = await openObserved()
  await Promise.all(Array.from({ length: 20 }, () => store.notes.create(newNote)))
  const text = await metrics.text()
  const count = readMetric(text, 'notes_transaction_writes_count')
  expect(readMetric(text, 'notes_transaction_writes_sum')).toBe(20)
  expect(readMetric(text, 'notes_transaction_duration_seconds_count')).toBe(count)
  expect(readMetric(text, 'notes_transaction_duration_seconds_sum')).toBeGreaterThan(0)
  expect(readMetric(text, 'notes_commit_duration_seconds_count')).toBe(0)
  expect(readMetric(text, 'notes_database_bytes')).toBeGreaterThan(1_000_000)
})

test('the pool is measured while it is exhausted, and afterwards', async () => {
  const { metrics, store, url } = await openObserved(1)
  const release = await lockTable(url, 'notes')
  const requests = Promise.all([store.notes.create(newNote), store.notes.create(newNote), store.notes.get(1n)])
  await expect.poll(() => poolIn(metrics)).toEqual({ inUse: 1, max: 1, waiting: 1, errors: 0 })
  expect(readMetric(await metrics.text(), 'notes_write_queue_length')).toBe(2)
  await release()
  await requests
  await expect.poll(() => poolIn(metrics)).toEqual({ inUse: 0, max: 1, waiting: 0, errors: 0 })
})

test('a connection that is lost during a create is counted, and so is the create', async () => {
  const { metrics, store, url } = await openObserved()
  await lockTable(url, 'notes')
  const create = store.notes.create(newNote)
  create.catch(() => {})
  await expect.poll(() => countWaiting(url)).toBe(1)
  const ended = await endSessions(url)
  await expect(create).rejects.toThrow()
  await expect.poll(() => poolIn(metrics)).toMatchObject({ errors: ended })
  expect(readMetric(await metrics.text(), 'notes_write_failures_total', { reason: 'unreachable' })).toBe(1)
})

test('while PostgreSQL cannot be reached, readiness checks and changes of API keys are counted', async () => {
  const proxy = await startProxy(new URL(await emptyDatabase()))
  const metrics = createMetrics(product)
  const store = await openPostgres({ url: proxy.url, observer: metrics.store.observer })
  const { rest } = await startTestApi({ store, metrics })
  const key = await store.apiKeys.create(apiKeyRecord(mintApiKey(), 'shop'))
  await proxy.refuse()
  // Fails when its API key is looked up, so there is no write.
  expect((await rest.post('/v1/notes', { body: 'Ann', priority: 7 })).status).toBe(503)
  expect(writeFailuresIn(await metrics.text())).toEqual({})
  await expect(store.check()).rejects.toThrow(StoreUnavailable)
  await expect(store.apiKeys.touch(key, new Date())).rejects.toThrow(StoreUnavailable)
  await expect(store.notes.create(newNote)).rejects.toThrow(StoreUnavailable)
  expect(writeFailuresIn(await metrics.text())).toEqual({ unreachable: 3 })
  const { body } = await rest.get('/readyz')
  expect(body).toMatchObject({ code: 'unavailable' })
  expect(writeFailuresIn(await metrics.text())).toEqual({ unreachable: 4 })
})

async function openObserved(maxConnections?: number) {
  const url = await emptyDatabase()
  const metrics = createMetrics(product)
  const store = await openPostgres({ url, maxConnections, observer: metrics.store.observer })
  onTestFinished(() => store.close())
  metrics.store.watch(store)
  return { metrics, store, url }
}

async function poolIn(metrics: Metrics) {
  const text = await metrics.text()
  const read = (name: string, labels = {}) => readMetric(text, `notes_postgres_${name}`, labels)
  return {
    inUse: read('connections', { state: 'in_use' }),
    max: read('connections_max'),
    waiting: read('waiting'),
    errors: read('connection_errors_total'),
  }
}
