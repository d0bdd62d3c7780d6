import type { FastifyInstance } from 'fastify'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { z } from 'zod'
import { StoreUnavailable } from '../../../store/collection/errors.ts'
import { createKey, createNotesClient, type NotesClient, startTestApi } from '../../../test/notes/fixtures.ts'
import { query, router } from '../../../test/notes/trpc.ts'
import { fetchFrom } from '../../../test/support/transport.ts'
import { Text } from '../../api/text.ts'

const tooMany = { status: 429, body: { code: 'rate_limited', status: 429 } }

describe('RATE_LIMIT', () => {
  test('allows the configured calls of a key, sends how many remain, then responds 429 with Retry-After', async () => {
    const { rest } = await startTestApi({ config: { rateLimit: { requests: 2, seconds: 60 } } })
    stopClock()
    const responses = [await rest.get('/v1/notes'), await rest.get('/v1/notes'), await rest.get('/v1/notes')]
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 429])
    expect(responses.map(({ headers }) => headers['ratelimit-policy'])).toEqual(Array(3).fill('"calls";q=2;w=60'))
    expect(responses[0]?.headers.ratelimit).toBe('"calls";r=1;t=60')
    expect(responses[2]?.headers.ratelimit).toBe('"calls";r=0;t=60')
    expect(responses[2]).toMatchObject({ ...tooMany, headers: { 'retry-after': '60' } })
  })

  test('allows calls again in the next window', async () => {
    const { rest } = await startTestApi({ config: { rateLimit: { requests: 1, seconds: 1 } } })
    stopClock()
    await rest.get('/v1/notes')
    vi.advanceTimersByTime(999)
    expect(await rest.get('/v1/notes')).toMatchObject({ ...tooMany, headers: { 'retry-after': '1' } })
    vi.advanceTimersByTime(1)
    expect((await rest.get('/v1/notes')).status).toBe(200)
  })

  test('counts each key separately', async () => {
    const { rest, store } = await startTestApi({ config: { rateLimit: { requests: 1, seconds: 60 } } })
    const authorization = `Bearer ${await createKey(store, 'other')}`
    expect((await rest.get('/v1/notes')).status).toBe(200)
    expect((await rest.get('/v1/notes', { authorization })).status).toBe(200)
    expect(await rest.get('/v1/notes')).toMatchObject(tooMany)
  })

  test('counts each call of a batch, and the calls through both adapters together', async () => {
    const { app, key, rest } = await startTestApi({ config: { rateLimit: { requests: 5, seconds: 60 } } })
    const rpc = clientWithoutRetries(app, key)
    await Promise.all([rpc.notes.list.query(), rpc.notes.list.query({ limit: 1 }), rpc.notes.list.query({ limit: 2 })])
    expect((await rest.get('/v1/notes')).headers.ratelimit).toContain('r=1;')
    const refused = await Promise.allSettled([rpc.notes.list.query(), rpc.notes.list.query({ limit: 1 })])
    const data = { code: 'rate_limited', status: 429 }
    expect(refused).toMatchObject(Array(2).fill({ status: 'rejected', reason: { data } }))
  })

  test('counts a REST request as one call, whatever its parameters are named and hold', async () => {
    const readFile = query({ openapi: { method: 'GET', path: '/files/{path}' } })
      .input(z.object({ path: Text }))
      .output(z.string())
      .query(({ input }) => input.path)
    const config = { rateLimit: { requests: 5, seconds: 60 } }
    const { rest } = await startTestApi({ router: router({ readFile }), config })
    expect(await rest.get('/v1/files/a,b,c')).toMatchObject({
      body: 'a,b,c',
      headers: { ratelimit: expect.stringContaining('r=4;') },
    })
  })

  test('counts a batch at most as the limit, so a larger batch passes in a new window', async () => {
    const { rest, rpc } = await startTestApi({ config: { rateLimit: { requests: 2, seconds: 60 } } })
    const batch = () => Promise.all([1, 2, 3].map((limit) => rpc.notes.list.query({ limit })))
    expect(await batch()).toHaveLength(3)
    expect(await rest.get('/v1/notes')).toMatchObject(tooMany)
  })

  test('does not count refused calls', async () => {
    const { app, key, rest } = await startTestApi({ config: { rateLimit: { requests: 3, seconds: 60 } } })
    const rpc = clientWithoutRetries(app, key)
    await rest.get('/v1/notes')
    await Promise.allSettled([1, 2, 3].map((limit) => rpc.notes.list.query({ limit })))
    expect((await rest.get('/v1/notes')).headers.ratelimit).toContain('r=1;')
  })

  test.for([-3_600_000, 3_600_000])('is not affected by a clock that is set %i ms off', async (step) => {
    const { rest } = await startTestApi({ config: { rateLimit: { requests: 1, seconds: 60 } } })
    await rest.get('/v1/notes')
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + step })
    onTestFinished(() => void vi.useRealTimers())
    const { status, headers } = await rest.get('/v1/notes')
    expect(status).toBe(429)
    expect(Number(headers['retry-after'])).toBeGreaterThan(50)
    expect(Number(headers['retry-after'])).toBeLessThanOrEqual(60)
  })

  test('does not count a request whose key cannot be checked, or is not valid', async () => {
    const { rest, store } = await startTestApi({ config: { rateLimit: { requests: 1, seconds: 60 } } })
    store.apiKeys.find = () => Promise.reject(new StoreUnavailable('The disk is full.'))
    const responses = [await rest.get('/v1/notes'), await rest.get('/v1/notes'), await rest.get('/v1/notes')]
    expect(responses.map(({ status }) => status)).toEqual([503, 503, 503])
    const wrong = { authorization: 'Bearer note_wrong' }
    const refused = [await rest.get('/v1/notes', wrong), await rest.get('/v1/notes', wrong)]
    expect(refused.map(({ status }) => status)).toEqual([401, 401])
    expect(refused[0]?.headers).not.toHaveProperty('ratelimit')
  })
})

/** Stops the monotonic clock until the test advances it. */
function stopClock(): void {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
}

function clientWithoutRetries(app: FastifyInstance, apiKey: string): NotesClient {
  return createNotesClient({ url: 'http://service.test', apiKey, retries: 0, fetch: fetchFrom(app) })
}
