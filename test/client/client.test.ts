import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createPetstoreClient, isPetstoreError, type PetstoreClient } from '../../client/index.ts'
import { withRetries } from '../../client/retry.ts'
import { freePort } from '../support/free-port.ts'
import { fetchFrom, startTestApi } from '../support/helpers.ts'

describe('retries', () => {
  beforeEach(() => void vi.useFakeTimers({ now: new Date('2026-11-21T12:00:00Z') }))
  afterEach(() => void vi.useRealTimers())

  test('are as many as were asked for, after pauses that grow up to a maximum', async () => {
    const pauses = await pausesBetween(20, () => new Response('', { status: 503 }))
    expect(pauses).toHaveLength(20)
    for (const [index, pause] of pauses.entries()) {
      const shortest = Math.min(200 * 2 ** index, 10_000)
      expect(pause).toBeGreaterThanOrEqual(shortest)
      expect(pause).toBeLessThanOrEqual(shortest * 1.5)
    }
  })

  test.for([
    ['5', 5_000],
    ['Sat, 21 Nov 2026 12:00:05 GMT', 5_000],
    ['Saturday, 21-Nov-26 12:00:05 GMT', 5_000],
    ['Sat Nov 21 12:00:05 2026', 5_000],
    ['3600', 10_000],
    ['Sat, 21 Nov 2026 13:00:00 GMT', 10_000],
    ['Sat, 21 Nov 2026 11:00:00 GMT', 200],
    ['soon', 200],
  ] as const)('after "Retry-After: %s" come %i ms later, up to half as much more', async ([header, milliseconds]) => {
    const respond = () => new Response('', { status: 503, headers: { 'retry-after': header } })
    const [pause] = await pausesBetween(1, respond)
    expect(pause).toBeGreaterThanOrEqual(milliseconds)
    expect(pause).toBeLessThanOrEqual(milliseconds * 1.5)
  })

  test('pause for at most maxPause, and up to half as much at random', async () => {
    const respond = () => new Response('', { status: 503, headers: { 'retry-after': '60' } })
    const [pause] = await pausesBetween(1, respond, 1_000)
    expect(pause).toBeLessThanOrEqual(1_500)
  })
})

test('a response whose connection breaks in the middle is retried', async () => {
  const { app, key } = await startTestApi()
  let requests = 0
  const server = createServer(async (request, response) => {
    const { payload } = await app.inject({ url: request.url ?? '', headers: request.headers })
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) })
    if (++requests > 1) response.end(payload)
    else response.write(payload.slice(0, 5), () => response.destroy())
  })
  onTestFinished(() => void server.close())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // The server listens on a TCP port, so its address is no string and not null.
  const { port } = server.address() as AddressInfo
  const client = createPetstoreClient({ url: `http://127.0.0.1:${port}`, apiKey: key })
  expect(await client.pets.list.query()).toEqual([])
  expect(requests).toBe(2)
})

describe('a failed call', () => {
  test.for(['127.0.0.1', 'localhost'])('names the address at %s that cannot be reached, and why', async (host) => {
    const url = `http://${host}:${await freePort()}`
    const error = await errorOf(createPetstoreClient({ url, apiKey: 'pet_secret', retries: 0 }))
    expect(error.message).toMatch(new RegExp(`^The request to ${url}/trpc failed: .*ECONNREFUSED`))
    expect(error.data).toBeUndefined()
    expect(String(error.cause?.stack)).not.toContain('pet_secret')
  })

  test('has the data of the service if there was a response of the service', async () => {
    const { app } = await startTestApi()
    const error = await errorOf(createPetstoreClient({ url: 'http://a', apiKey: 'none', fetch: fetchFrom(app) }))
    expect(error.data).toMatchObject({ code: 'unauthorized', message: error.message, status: 401 })
  })

  test('has no data if a proxy responded, and says with which status', async () => {
    const fetch = async () => new Response('<h1>Bad gateway</h1>', { status: 502 })
    const error = await errorOf(createPetstoreClient({ url: 'http://a', apiKey: 'none', retries: 0, fetch }))
    expect(error.message).toBe('The request to http://a/trpc failed: status 502, without a response of the service')
    expect(error.data).toBeUndefined()
  })
})

test('an address with a user name or a password is refused, without showing them', () => {
  const create = () => createPetstoreClient({ url: 'http://user:pa@ss@petstore.test', apiKey: 'none' })
  expect(create).toThrow(/^The url of the service must not hold a user name or password/)
  expect(create).not.toThrow(/user:|pa@?ss@/)
})

/** The milliseconds between the attempts of one request, by the fake clock. */
async function pausesBetween(retries: number, respond: () => Response, maxPause?: number): Promise<number[]> {
  const times: number[] = []
  const send = withRetries(
    async () => {
      times.push(Date.now())
      return respond()
    },
    { retries, maxPause },
  )
  const response = send('http://petstore.test')
  await vi.runAllTimersAsync()
  await response
  return times.slice(1).map((time, index) => time - (times[index] ?? 0))
}

async function errorOf(client: PetstoreClient) {
  const error = await client.pets.list.query().catch((reason: unknown) => reason)
  if (!isPetstoreError(error)) throw new Error('The call should have failed with a PetstoreError.')
  return error
}
