import { Readable } from 'node:stream'
import { TRPCClientError } from '@trpc/client'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { TooManySearches } from '../../store/collection/errors.ts'
import { createNotesClient, type NotesClient, startTestApi } from '../../test/notes/fixtures.ts'
import { freePort } from '../../test/support/free-port.ts'
import { slowResponses, startServer } from '../../test/support/slow-server.ts'
import { fetchFrom } from '../../test/support/transport.ts'
import { Batch, isAborted, isServiceError } from '../index.ts'
import { withRetries } from '../retry.ts'

describe('retries', () => {
  beforeEach(() => void vi.useFakeTimers({ now: new Date('2026-11-21T12:00:00Z') }))
  afterEach(() => void vi.useRealTimers())

  test('the client retries as often as configured, with pauses that double up to the maximum', async () => {
    const pauses = await pausesBetween(20, () => new Response('', { status: 503 }))
    expect(pauses).toHaveLength(20)
    for (const [index, pause] of pauses.entries()) {
      const shortest = Math.min(200 * 2 ** index, 10_000)
      expect(pause).toBeGreaterThanOrEqual(shortest)
      expect(pause).toBeLessThanOrEqual(shortest * 1.5)
    }
  })

  test.for<[header: string, milliseconds: number, maxPause?: number]>([
    ['5', 5_000],
    ['Sat, 21 Nov 2026 12:00:05 GMT', 5_000],
    ['Saturday, 21-Nov-26 12:00:05 GMT', 5_000],
    ['Sat Nov 21 12:00:05 2026', 5_000],
    ['3600', 10_000],
    ['Sat, 21 Nov 2026 13:00:00 GMT', 10_000],
    ['Sat, 21 Nov 2026 11:00:00 GMT', 200],
    ['soon', 200],
    ['60', 1_000, 1_000],
    // The longest delay of a timer.
    ['999999999', 2 ** 31 - 1, Infinity],
  ])('the pause after "Retry-After: %s" is %i ms plus jitter', async ([header, milliseconds, maxPause]) => {
    const [pause] = await pausesBetween(1, () => unavailable(header), maxPause)
    expect(pause).toBeGreaterThanOrEqual(milliseconds)
    expect(pause).toBeLessThanOrEqual(Math.min(milliseconds * 1.5, 2 ** 31 - 1))
  })

  test.for([
    ...[408, 429, 502, 503, 504].map((status) => [status, 1] as const),
    ...[404, 500].map((status) => [status, 0] as const),
  ])('a response with the status %i is retried %i times', async ([status, retries]) => {
    expect(await pausesBetween(1, () => new Response('', { status }))).toHaveLength(retries)
  })

  test.for([0, 1_000])(
    'an abort after %i ms, when a response has arrived, ends the pause before a retry',
    async (time) => {
      const abort = new AbortController()
      const end = () => abort.abort(new Error('not needed any more'))
      const fetch = async () => {
        if (time === 0) end()
        return unavailable('5')
      }
      const send = withRetries(fetch, { retries: 3 })
      const outcome = expect(send('http://service.test', { signal: abort.signal })).rejects.toThrow(
        'not needed any more',
      )
      await vi.advanceTimersByTimeAsync(time)
      end()
      expect(vi.getTimerCount()).toBe(0)
      await outcome
    },
  )
})

test('a create whose response was lost is repeated with its key, and there is one note', async () => {
  const { app, key, store } = await startTestApi()
  let lost = 0
  const client = createNotesClient({
    url: 'http://service.test',
    apiKey: key,
    async fetch(input, init) {
      const response = await fetchFrom(app)(input, init)
      if (lost++ < 2) throw new TypeError('fetch failed')
      return response
    },
  })
  expect(await client.notes.create.mutate({ body: 'Ann', priority: 7n })).toMatchObject({ id: 1n })
  expect([lost, await store.notes.list({ limit: 9 })]).toMatchObject([3, [{ id: 1n }]])
})

test('the client retries a response whose connection breaks while the body is read', async () => {
  const { app, key } = await startTestApi()
  let requests = 0
  const url = await startServer(async (request, response) => {
    const { payload } = await app.inject({ url: request.url ?? '', headers: request.headers })
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) })
    if (++requests > 1) response.end(payload)
    else response.write(payload.slice(0, 5), () => response.destroy())
  })
  const client = createNotesClient({ url, apiKey: key })
  expect(await client.notes.list.query()).toEqual([])
  expect(requests).toBe(2)
})

test.for([
  [2, 'again while a call of it fails for a transient reason', 1n, new TooManySearches('Busy.')],
  [1, 'once if a call of it fails for another reason', 99n, undefined],
] as const)('%i requests: a batch is sent %s', async ([requests, , id, failure]) => {
  const { store, key, rpc } = await startTestApi()
  await rpc.notes.create.mutate({ body: 'Ann', priority: 7n })
  const failures = failure ? [failure] : []
  const get: typeof store.notes.get = async (...input) => {
    for (const error of failures.splice(0)) throw error
    return store.notes.get(...input)
  }
  const { app } = await startTestApi({ store: { ...store, notes: { ...store.notes, get } }, key })
  const send = vi.fn(fetchFrom(app))
  const { notes } = createNotesClient({ url: 'http://service.test', apiKey: key, fetch: send })
  const outcomes = await Promise.allSettled([notes.list.query(), notes.get.query({ noteId: id })])
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', failure ? 'fulfilled' : 'rejected'])
  expect(send).toHaveBeenCalledTimes(requests)
})

test('an error that fetch makes of a response is not retried', async () => {
  const send = vi.fn(async () => {
    throw new Error('Too many requests', { cause: new Response(null, { status: 429 }) })
  })
  await expect(withRetries(send, { retries: 3 })('http://service.test')).rejects.toThrow('Too many requests')
  expect(send).toHaveBeenCalledTimes(1)
})

test('the client reads no more than 64 MiB of a response, once', async () => {
  let requests = 0
  const url = await startServer((_request, response) => {
    requests++
    Readable.from(Array(80).fill(Buffer.alloc(2 ** 20, ' '))).pipe(response)
  })
  const error = await errorOf(createNotesClient({ url, apiKey: 'none' }))
  expect(error).toMatchObject({ message: `The request to ${url}/trpc failed: the response is larger than 64 MiB` })
  expect(requests).toBe(1)
})

describe('the time limit of an attempt', () => {
  test.for(Object.entries(slowResponses))('ends a response %s', async ([, send]) => {
    const requests: (string | undefined)[] = []
    const url = await startServer((_request, response) => send(response))
    const client = createNotesClient({
      url,
      apiKey: 'none',
      retries: 1,
      maxPause: 1,
      timeout: 300,
      // Counted here, because on a busy machine the limit can end an attempt before the server gets the request.
      fetch(input, init) {
        requests.push(init?.method)
        return fetch(input, init)
      },
    })
    const calls = [client.notes.list.query(), client.notes.create.mutate({ body: 'Ann', priority: 7n })]
    const message = `The request to ${url}/trpc failed: no complete response within 300 ms`
    const failure = { status: 'rejected', reason: expect.objectContaining({ message }) }
    expect(await Promise.allSettled<unknown>(calls)).toEqual([failure, failure])
    expect(requests.sort()).toEqual(['GET', 'GET', 'POST', 'POST'])
  })

  test('leaves no timer behind', async () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    await withRetries(async () => new Response('[]'), { retries: 0 })('http://service.test')
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('errors', () => {
  test.for(['127.0.0.1', 'localhost'])(
    'the error for an unreachable service at %s names its URL and the cause',
    async (host) => {
      const url = `http://${host}:${await freePort()}`
      const error = await errorOf(createNotesClient({ url, apiKey: 'note_secret', retries: 0 }))
      expect(error.message).toMatch(new RegExp(`^The request to ${url}/trpc failed: .*ECONNREFUSED`))
      expect(error.data).toBeUndefined()
      expect(String(error.cause?.stack)).not.toContain('note_secret')
    },
  )

  test.for([
    [502, '<h1>Bad gateway</h1>'],
    [200, '<h1>Sign in to the network</h1>'],
    [200, '{"status":"ok"}'],
    [502, '{"error":"upstream unavailable"}'],
    [502, '{"error":{"message":"upstream unavailable"}}'],
    [502, '{"error":null}'],
  ] as const)('the error for a response %i %s of a proxy names its status and has no data', async ([status, body]) => {
    const fetch = async () => new Response(body, { status })
    const client = createNotesClient({ url: 'http://a', apiKey: 'none', retries: 0, fetch })
    const { message, data } = await errorOf(client)
    expect(message).toBe(`The request to http://a/trpc failed: status ${status}, without a response of the service`)
    expect(data).toBeUndefined()
    await expect(client.notes.create.mutate({ body: 'Ann', priority: 7n })).rejects.toThrow(message)
  })
})

describe('isServiceError', () => {
  test.for([undefined, { code: 'unauthorized', status: 401 }])(
    'recognises an error of any copy of @trpc/client with the data %j',
    (data) => {
      const another = Object.assign(new Error('unauthorized'), { name: 'TRPCClientError', data })
      expect([new TRPCClientError('unreachable'), another].map(isServiceError)).toEqual([true, true])
    },
  )

  test.for<[what: string, error: unknown]>([
    ['another error', new TypeError('fetch failed')],
    [
      'an error of another service',
      TRPCClientError.from({ error: { code: -32600, message: 'x', data: { code: 'BAD' } } }),
    ],
    ['an error with a name alone', Object.assign(new Error('x'), { name: 'TRPCClientError' })],
    ['an object', { name: 'TRPCClientError', data: undefined }],
    ['null', null],
    ['nothing', undefined],
  ])('does not recognise %s', ([, error]) => {
    expect(isServiceError(error)).toBe(false)
  })
})

describe('isAborted', () => {
  const signals: [what: string, signal: () => AbortSignal][] = [
    ['while it waits', () => AbortSignal.timeout(100)],
    ['before it is sent', () => AbortSignal.abort()],
    ['with a reason', () => AbortSignal.abort(new TypeError('not needed any more'))],
  ]
  test.for(signals)('recognises a call that its signal ended %s', async ([, signal]) => {
    const url = await startServer((_request, response) => slowResponses['that stalls in the body'](response))
    const { notes } = createNotesClient({ url, apiKey: 'none', timeout: 60_000 })
    const calls = [
      notes.list.query({}, { signal: signal() }),
      notes.create.mutate({ body: 'Ann', priority: 7n }, { signal: signal() }),
    ]
    for (const outcome of await Promise.allSettled<unknown>(calls)) {
      const error = outcome.status === 'rejected' ? outcome.reason : undefined
      expect([isAborted(error), isServiceError(error)]).toEqual([true, true])
    }
  })

  test('does not recognise a failed call, also not one that reached its time limit', async () => {
    const url = await startServer((_request, response) => slowResponses['that stalls in the body'](response))
    const { app } = await startTestApi()
    const failed = await Promise.all([
      errorOf(createNotesClient({ url, apiKey: 'none', timeout: 100, retries: 0 })),
      errorOf(createNotesClient({ url: `http://127.0.0.1:${await freePort()}`, apiKey: 'none', retries: 0 })),
      errorOf(createNotesClient({ url: 'http://a', apiKey: 'none', fetch: fetchFrom(app) })),
    ])
    expect([...failed, new DOMException('x', 'AbortError'), undefined].map(isAborted)).toEqual(Array(5).fill(false))
  })
})

describe('the context of a call', () => {
  test('skipBatch sends a query alone, and without an idempotency key', async () => {
    const { app, key } = await startTestApi()
    const sent: { path: string; keys: string[] }[] = []
    const notes = createNotesClient({
      url: 'http://service.test',
      apiKey: key,
      fetch: (input, init) => {
        sent.push({ path: new URL(String(input)).pathname, keys: [...new Headers(init?.headers).keys()] })
        return fetchFrom(app)(input, init)
      },
    })
    await Promise.all([
      notes.notes.list.query({ limit: 1 }),
      notes.notes.counts.query(undefined, { context: { skipBatch: true } }),
      notes.notes.list.query({ limit: 2 }),
    ])
    expect(sent.map(({ path }) => path).toSorted()).toEqual(['/trpc/notes.counts', '/trpc/notes.list,notes.list'])
    expect(sent.flatMap(({ keys }) => keys)).not.toContain('idempotency-key')
  })

  test('a query may be as long as the service takes it', async () => {
    const { rpc } = await startTestApi()
    const text = '😀'.repeat(290)
    expect(await rpc.books.search.query({ title: text, author: text })).toMatchObject({ items: [] })
  })

  test('a batch sends the calls that have an aborted signal, too, and does not wait for ones that are missing', async () => {
    const { rpc, store } = await startTestApi()
    const batch = new Batch(2)
    const create = (body: string, signal?: AbortSignal) =>
      rpc.notes.create.mutate({ body, priority: 7n }, { context: { batch }, ...(signal && { signal }) })
    await Promise.allSettled([create('Ann'), create('Bob', AbortSignal.abort())])
    expect((await store.notes.list({ limit: 9 })).map(({ body }) => body)).toEqual(['Ann', 'Bob'])
    expect(await create('Cleo')).toMatchObject({ body: 'Cleo' })
    expect(await Promise.all([create('Dora'), create('Eve')])).toMatchObject([{ body: 'Dora' }, { body: 'Eve' }])
  })

  test('onResponse tells a repeated create from the first one', async () => {
    const { rpc } = await startTestApi()
    const replayed: boolean[] = []
    const context = {
      idempotencyKey: 'order-17',
      onResponse: ({ headers }: Response) => void replayed.push(headers.has('idempotency-replayed')),
    }
    for (let round = 0; round < 2; round++) await rpc.notes.create.mutate({ body: 'Ann', priority: 7n }, { context })
    expect(replayed).toEqual([false, true])
  })
})

function unavailable(retryAfter: string): Response {
  return new Response('', { status: 503, headers: { 'retry-after': retryAfter } })
}

/** The milliseconds between the attempts of one request, measured by the fake clock. */
async function pausesBetween(retries: number, respond: () => Response, maxPause?: number): Promise<number[]> {
  const times: number[] = []
  const send = withRetries(
    async () => {
      times.push(Date.now())
      return respond()
    },
    { retries, maxPause },
  )
  const response = send('http://service.test')
  await vi.runAllTimersAsync()
  await response
  return times.slice(1).map((time, index) => time - (times[index] ?? 0))
}

async function errorOf(client: NotesClient) {
  const error = await client.notes.list.query().catch((reason: unknown) => reason)
  if (!isServiceError(error)) throw new Error('Expected the call to fail with a ServiceError.')
  return error
}
