import { setImmediate as nextTurn } from 'node:timers/promises'
import { fastify } from 'fastify'
import { expect, onTestFinished, test } from 'vitest'
import { shedLoad } from '../../server/http/load-shedding.ts'
import { readMetric } from '../support/metrics.ts'
import { startTestApi } from '../support/test-api.ts'

test('the time that a start takes does not count as load', async () => {
  const app = fastify()
  onTestFinished(() => app.close())
  shedLoad(app)
  app.get('/', () => 'served')
  await block()
  expect((await app.inject('/')).body).toBe('served')
})

test('requests receive 503 with Retry-After while the event loop lags, except for metrics, and are served afterwards', async () => {
  const { app, rest } = await startTestApi()
  await app.ready()
  await block()
  const refused = await rest.get('/v1/pets')
  expect(refused).toMatchObject({ status: 503, body: { code: 'unavailable' }, headers: { 'retry-after': '1' } })
  expect(refused.text).toContain('too much to do')
  expect((await rest.get('/openapi.json')).status).toBe(200)
  const { text } = await rest.get('/metrics')
  expect(readMetric(text, 'petstore_requests_rejected_total', { reason: 'overloaded' })).toBe(1)
  await expect.poll(async () => (await rest.get('/v1/pets')).status, { timeout: 10_000 }).toBe(200)
})

/** Lets the event loop lag for 2.4 s. */
async function block(): Promise<void> {
  const pause = new Int32Array(new SharedArrayBuffer(4))
  for (let i = 0; i < 6; i++) {
    Atomics.wait(pause, 0, 0, 400)
    await nextTurn()
  }
}
