import { expect, onTestFinished, test, vi } from 'vitest'
import { StoreUnavailable } from '../../../store/collection/errors.ts'
import { product, startTestApi } from '../../../test/notes/fixtures.ts'
import { readMetric } from '../../../test/support/metrics.ts'
import { createMetrics } from '../../telemetry/metrics.ts'

const noKey = { authorization: '' }

test('without an admin port, /metrics needs an API key', async () => {
  const { rest } = await startTestApi()
  expect(await rest.get('/metrics', noKey)).toMatchObject({ status: 401, body: { code: 'unauthorized' } })
  expect(await rest.get('/metrics')).toMatchObject({
    status: 200,
    headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8', 'cache-control': 'no-store' },
  })
})

test('the metrics say whether the service is ready', async () => {
  const { rest, store } = await startTestApi()
  const isReady = async () => readMetric((await rest.get('/metrics')).text, 'notes_ready')
  expect(await isReady()).toBe(1)
  store.check = () => Promise.reject(new StoreUnavailable('The disk is full.'))
  await expect.poll(isReady, { interval: 200 }).toBe(0)
})

test('scrapes within a second share one collection of the metrics', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const { rest, store } = await startTestApi()
  // Measured before, because a busy disk takes longer than the metrics wait.
  const sizes = await store.sizes()
  let collections = 0
  store.sizes = async () => {
    collections++
    return sizes
  }
  const scrape = async () => readMetric((await rest.get('/metrics')).text, 'notes_cache_hits_total', {})
  const [first] = await Promise.all(Array.from({ length: 20 }, scrape))
  vi.advanceTimersByTime(999)
  expect([await scrape(), collections]).toEqual([first, 1])
  vi.advanceTimersByTime(1)
  expect(await scrape()).toBeGreaterThan(first ?? Number.NaN)
  expect(collections).toBe(2)
})

test('the interval of scheduled backups is a metric only if there is one', async () => {
  const metrics = createMetrics(product)
  const interval = async () => readMetric(await metrics.text(), 'notes_backup_interval_seconds')
  expect(await interval()).toBeUndefined()
  metrics.store.expectBackups(3_600_000)
  expect(await interval()).toBe(3_600)
})

test('/metrics counts as a call for the rate limit', async () => {
  const { rest } = await startTestApi({ config: { rateLimit: { requests: 1, seconds: 60 } } })
  expect((await rest.get('/metrics')).status).toBe(200)
  expect((await rest.get('/metrics')).status).toBe(429)
})

test('scrapes are not logged', async () => {
  const { rest, log } = await startTestApi()
  for (const method of ['GET', 'HEAD'] as const) await rest.send({ method, url: '/metrics' })
  expect(log).toEqual([])
})
