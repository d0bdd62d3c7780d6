import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { startTestApi } from '../support/helpers.ts'

test('while the event loop lags, requests are turned away with 503 and when to come back; then they are let in again', async () => {
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
