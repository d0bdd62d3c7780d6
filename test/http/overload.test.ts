import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { readMetric } from '../support/metrics.ts'
import { startTestApi } from '../support/test-api.ts'

test('requests receive 503 with Retry-After while the event loop lags, except for metrics, and are served afterwards', async () => {
  const { rest } = await startTestApi()
  const pause = new Int32Array(new SharedArrayBuffer(4))
  for (let i = 0; i < 6; i++) {
    Atomics.wait(pause, 0, 0, 400)
    await nextTurn()
  }
  const refused = await rest.get('/v1/pets')
  expect(refused).toMatchObject({ status: 503, body: { code: 'unavailable' }, headers: { 'retry-after': '1' } })
  expect(refused.text).toContain('too much to do')
  expect((await rest.get('/openapi.json')).status).toBe(200)
  const { text } = await rest.get('/metrics')
  expect(readMetric(text, 'petstore_requests_rejected_total', { reason: 'overloaded' })).toBe(1)
  await expect.poll(async () => (await rest.get('/v1/pets')).status, { timeout: 10_000 }).toBe(200)
})
