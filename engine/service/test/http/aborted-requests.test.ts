import { once } from 'node:events'
import { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { promisify } from 'node:util'
import { queryObjects } from 'node:v8'
import { describe, expect, test } from 'vitest'
import {
  createRequest,
  type ListeningApi,
  listen,
  shareTestApi,
  startLocked,
  startTestApi,
} from '../../../test/notes/fixtures.ts'
import { consoleFolder, largestFile } from '../../../test/support/console-folder.ts'
import { type LogLine, logLinesIn } from '../../../test/support/log-lines.ts'
import { closing, host, json, openSocket } from '../../../test/support/raw-http.ts'

/** A client that resets the connection is no fault of the service: at most one plain line in the log. */

const shared = shareTestApi({ consoleFolder })
const secret = 'note_in_the_URL'

const requests: Record<string, (authorization: string) => string> = {
  nothing: () => '',
  'half the headers': () => 'GET /v1/notes HTTP/1.1\r\nHost: note',
  'half a body': (authorization) => createRequest(authorization, '{', 100),
  'half a chunk': (authorization) =>
    head('POST', `/v1/notes?key=${secret}`, `${authorization}${json}${chunked}`, '5\r\n{'),
  'a malformed chunk': (authorization) =>
    head('POST', `/v1/notes?key=${secret}`, `${authorization}${json}${chunked}`, 'x'),
  'half a body without a key': () => createRequest('', '{', 100),
  'half a body at an unknown path': () => head('POST', `/${secret}`, 'Content-Length: 9\r\n', '{'),
  'half a body of an RPC call': (authorization) => rpcPost('notes.create', authorization),
  'half a body of an RPC batch': (authorization) =>
    rpcPost(`notes.create,notes.create?batch=1&key=${secret}`, authorization),
  'half a body with Expect': (authorization) => createRequest(`${authorization}Expect: 100-continue\r\n`, '', 9),
  'half a body with Upgrade': (authorization) =>
    createRequest(`${authorization}Connection: Upgrade\r\nUpgrade: a\r\n`, '{', 9),
  'a create and half a body': (authorization) => createRequest(authorization) + createRequest(authorization, '{', 100),
  'a create': (authorization) => createRequest(authorization),
  'a list': (authorization) => head('GET', `/v1/notes?key=${secret}`, authorization),
  'an RPC search': (authorization) =>
    head('GET', `/trpc/notes.search?input=${encodeURIComponent('{"json":{"name":"x"}}')}`, authorization),
  'an RPC call': (authorization) => head('GET', '/trpc/notes.list', authorization),
  'a streamed RPC batch': (authorization) =>
    head('GET', '/trpc/notes.list,notes.list?batch=1', `${authorization}trpc-accept: application/jsonl\r\n`),
  'a health check': () => head('GET', '/livez', ''),
  'a scrape': (authorization) => head('GET', '/metrics', authorization),
  CONNECT: () => head('CONNECT', 'service.test:80', ''),
}
const chunked = 'Transfer-Encoding: chunked\r\n'

function head(method: string, url: string, headers: string, body = ''): string {
  return `${method} ${url} HTTP/1.1\r\n${host}${headers}\r\n${body}`
}

function rpcPost(path: string, authorization: string): string {
  return head('POST', `/trpc/${path}`, `${authorization}${json}Content-Length: 100\r\n`, '{')
}

const unanswered = ['nothing', 'half the headers', 'half a body', 'half a chunk', 'half a body of an RPC call']
unanswered.push('half a body of an RPC batch', 'half a body with Upgrade')

/** When the client resets the connection. */
const moments = {
  'at once': async () => {},
  'once the bytes have arrived': async (socket: Socket, served: Socket) => {
    await expect.poll(() => served.bytesRead, { interval: 1 }).toBe(socket.bytesWritten)
    // The request starts within a few turns of the event loop, unless its client is gone.
    for (let turn = 0; turn < 5; turn++) await nextTurn()
  },
  'after the response has begun': async (socket: Socket) => {
    if (socket.bytesRead === 0) await once(socket, 'readable')
  },
}
type Moment = keyof typeof moments

// Object.keys returns exactly the keys of this constant.
const cases = (Object.keys(moments) as Moment[]).flatMap((moment) =>
  Object.keys(requests)
    .filter((request) => moment !== 'after the response has begun' || !unanswered.includes(request))
    .map((request) => [request, moment] as const),
)

describe('at most one plain line is logged for a client that', () => {
  test.for(cases)('sends %s and resets the connection %s', async ([request, moment]) => {
    const api = await listen(shared())
    expectPlain(await linesAfter(api, api.url, requests[request]?.(api.authorization) ?? '', moment), request)
  })
})

test('a client that resets the connection while a large file is sent leaves one plain line', async () => {
  const api = await listen(shared())
  const lines = await linesAfter(api, api.url, head('GET', largestFile, ''), 'after the response has begun')
  expect(lines).toMatchObject([{ level: 'info', operation: 'console', aborted: true, ip: '127.0.0.1' }])
})

test('a client that resets the connection while its create waits for the disk leaves one plain line', async () => {
  const { release, ...api } = await startLocked()
  const lines = await linesAfter(api, api.url, createRequest(api.authorization), 'once the bytes have arrived')
  release()
  await expect.poll(() => api.store.notes.get(1n)).toMatchObject({ body: 'Ann' })
  expect(lines).toMatchObject([{ level: 'info', operation: 'notes.create', aborted: true, ip: '127.0.0.1' }])
  expect(logLinesIn(api.log.join('')).slice(-1)).toEqual(lines)
})

test('a search is told that its client has reset the connection, and leaves one plain line', async () => {
  const { promise: started, resolve: start } = Promise.withResolvers<AbortSignal>()
  const api = await listen(await startTestApi())
  const { search } = api.store.notes
  api.store.notes.search = async (query, searcher) => {
    if (!searcher) throw new Error('Nobody searches.')
    start(searcher.signal)
    await once(searcher.signal, 'abort')
    return search(query, searcher)
  }
  const socket = await openSocket(api.url)
  socket.write(head('GET', '/trpc/notes.search,notes.search?batch=1', api.authorization))
  const signal = await started
  expect(signal.aborted).toBe(false)
  socket.resetAndDestroy()
  await expect.poll(() => signal.aborted, { interval: 1 }).toBe(true)
  await api.app.inject('/livez')
  expect(logLinesIn(api.log.join('')).slice(-1)).toMatchObject([{ level: 'info', aborted: true }])
  expect(logLinesIn(api.log.join('')).filter(({ level }) => level !== 'info')).toEqual([])
})

test('a batch whose client has reset the connection before its calls end leaves nothing in memory', async () => {
  const calls: (() => void)[] = []
  const api = await listen(await startTestApi())
  const { list } = api.store.notes
  api.store.notes.list = async (query) => {
    await new Promise<void>((resolve) => calls.push(resolve))
    return list(query)
  }
  const before = queryObjects(ServerResponse, { format: 'count' })
  for (let batch = 0; batch < 5; batch++) {
    const accepted = once(api.app.server, 'connection')
    const socket = await openSocket(api.url)
    // The response to each batch may be cached.
    const input = encodeURIComponent(JSON.stringify({ 0: { json: { limit: batch + 1 } } }))
    socket.write(head('GET', `/trpc/notes.list,notes.list?batch=1&input=${input}`, api.authorization))
    const [served] = await accepted
    await expect.poll(() => calls.length).toBe(2)
    socket.resetAndDestroy()
    await closing(served)
    for (const end of calls.splice(0)) end()
    await api.app.inject('/livez')
  }
  expect(queryObjects(ServerResponse, { format: 'count' })).toBeLessThan(before + 5)
})

type Listening = Pick<ListeningApi, 'app' | 'log'>

/** The lines that the log gets while a client sends the bytes and resets the connection. */
async function linesAfter({ app, log }: Listening, url: string, bytes: string, moment: Moment): Promise<LogLine[]> {
  const before = log.length
  const accepted = once(app.server, 'connection')
  const socket = await openSocket(url)
  socket.on('readable', () => {})
  if (bytes !== '') await new Promise((resolve) => socket.write(bytes, resolve))
  const [served] = await accepted
  await moments[moment](socket, served)
  socket.resetAndDestroy()
  const connections = promisify(app.server.getConnections.bind(app.server))
  await expect.poll(() => connections(), { interval: 1 }).toBe(0)
  // Not logged, and served after the last callbacks of the aborted request.
  await app.inject('/livez')
  return logLinesIn(log.slice(before).join(''))
}

function expectPlain(lines: LogLine[], request: string): void {
  expect(lines.filter(({ level, err }) => level !== 'info' || err !== undefined)).toEqual([])
  expect(JSON.stringify(lines)).not.toContain(secret)
  // A malformed chunk is an error of the client besides. The first of two requests may be complete.
  const expected = ['a malformed chunk', 'a create and half a body'].includes(request) ? 2 : 1
  expect(lines.length).toBeLessThanOrEqual(expected)
}
