import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { startTestApi } from '../support/test-api.ts'

test('requests receive 503 with Retry-After while the event loop lags, and are served afterwards', async () => {
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
  await expect.poll(async () => (await rest.get('/v1/pets')).status, { timeout: 10_000 }).toBe(200)
})
