import { expect, onTestFinished, test, vi } from 'vitest'
import { createKey, product, startTestApi } from '../../../test/notes/fixtures.ts'

const day = 86_400_000

test('session.current names the key and the release, without an expiry and a limit if there are none', async () => {
  const { rpc } = await startTestApi()
  expect(await rpc.session.current.query()).toEqual({ keyName: 'test', access: 'write', release: product.version })
})

test('session.current shows each key its own name and expiry', async () => {
  const { rest, store } = await startTestApi()
  const before = Date.now()
  const authorization = `Bearer ${await createKey(store, 'shop', day)}`
  const { body } = await rest.get('/trpc/session.current', { authorization })
  const { keyName, expiresAt } = Object(body).result.data.json
  expect(keyName).toBe('shop')
  expect(Date.parse(expiresAt)).toBeGreaterThanOrEqual(before + day)
  expect(Date.parse(expiresAt)).toBeLessThanOrEqual(Date.now() + day)
})

test('session.current counts as one call, and shows what the headers show', async () => {
  const { rest, rpc } = await startTestApi({ config: { rateLimit: { requests: 4, seconds: 60 } } })
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  await rest.get('/v1/notes')
  vi.advanceTimersByTime(18_000)
  const { headers, body } = await rest.get('/trpc/session.current')
  expect(headers.ratelimit).toBe('"calls";r=2;t=42')
  expect(Object(body).result.data.json.rateLimit).toEqual({ calls: 4, seconds: 60, remaining: 2, resetsIn: 42 })
  const [session] = await Promise.all([rpc.session.current.query(), rpc.notes.counts.query()])
  expect(session.rateLimit?.remaining).toBe(0)
})
