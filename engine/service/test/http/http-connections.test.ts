import { once } from 'node:events'
import type { IncomingMessage, RequestListener } from 'node:http'
import type { Socket } from 'node:net'
import { promisify } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  createRequest,
  type ListeningApi,
  listen,
  shareTestApi,
  startHttpServer,
  startLocked,
  startTestApi,
} from '../../../test/notes/fixtures.ts'
import { closing, collect, exchange, host, json, openSocket, statusesIn } from '../../../test/support/raw-http.ts'
import { stubbornClients } from '../../../test/support/stubborn-clients.ts'
import { Connections } from '../../http/connections.ts'

/** The end of connections: clients receive all their responses, and cannot keep a connection open without a request. */

/** For tests that do not depend on an empty database. */
const shared = shareTestApi()

const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\n'

test('an idle connection does not keep its last request in memory', async () => {
  const requests: WeakRef<IncomingMessage>[] = []
  const { url } = await startHttpServer((request, response) => {
    requests.push(new WeakRef(request))
    response.end()
  })
  const socket = await openSocket(url)
  socket.write(`GET / HTTP/1.1\r\n${host}\r\n`)
  await once(socket, 'data')
  setFlagsFromString('--expose-gc')
  const collectGarbage: () => void = runInNewContext('gc')
  const remaining = () => {
    collectGarbage()
    return requests.map((request) => request.deref())
  }
  await expect.poll(remaining).toEqual([undefined])
  expect(socket.closed).toBe(false)
})

test.for([0, 600])(
  'connections that wait to be accepted when the service closes receive their responses, also if it is blocked for %i ms',
  async (blocked) => {
    const { app } = await startTestApi()
    const url = await app.listen({ host: '127.0.0.1', port: 0 })
    // They connect in the same turn of the event loop, and the service accepts one in each turn.
    const waiting = Array.from({ length: 5 }, () => exchange(url, `GET /livez HTTP/1.1\r\n${host}\r\n`))
    setImmediate(() => setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, blocked)))
    await app.close()
    expect((await Promise.all(waiting)).map(([response]) => response?.status)).toEqual(Array(5).fill(200))
  },
)

describe('a client that half-closes the connection after its last byte', () => {
  test.for([
    ['a create', (authorization: string) => createRequest(authorization), [201]],
    ['two creates', (authorization: string) => createRequest(authorization).repeat(2), [201, 201]],
    ['a list', (authorization: string) => `GET /v1/notes HTTP/1.1\r\n${host}${authorization}\r\n`, [200]],
    ['a create without a key', () => createRequest(''), [401]],
    ['half a create', (authorization: string) => createRequest(authorization, '{', 100), [400]],
    ['half a chunk', (authorization: string) => chunked(authorization, '5\r\n{'), [400]],
    ['half a header', () => 'GET /v1/notes HTTP/1.1\r\nHost: note', [400]],
  ] as const)('receives the responses to %s, and the connection ends', async ([, bytes, statuses]) => {
    const api = await listen(shared())
    // On a busy machine, the start of the writer thread takes longer than a connection may be silent.
    await api.store.check()
    const socket = await openSocket(api.url)
    const received = collect(socket)
    socket.end(bytes(api.authorization))
    await closing(socket)
    expect(statusesIn(received.text)).toEqual(statuses)
    await expectNoConnections(api)
  })

  test('receives a response that takes a while', async () => {
    const { url, authorization, release } = await startLocked()
    const socket = await openSocket(url)
    const received = collect(socket)
    socket.end(createRequest(authorization))
    await fetch(url, { redirect: 'manual' })
    expect(received.text).toBe('')
    release()
    await closing(socket)
    expect(statusesIn(received.text)).toEqual([201])
  })

  test('without any request sees the connection end', async () => {
    const api = await listen(shared())
    const socket = await openSocket(api.url)
    socket.end()
    socket.resume()
    await closing(socket)
    await expectNoConnections(api)
  })
})

describe('a client that still sends after the final response', () => {
  const plenty = Buffer.alloc(20_000_000, 'a')

  test.for([
    ['CONNECT', `CONNECT service.test:80 HTTP/1.1\r\n${host}\r\n`, 405],
    ['bytes that are not HTTP', 'GARBAGE\r\n\r\n', 400],
    ['a body that is too large', createRequest('KEY', '', plenty.length), 413],
    ['an error that ends the connection', createRequest('Connection: close\r\n', '', plenty.length), 401],
    ['ambiguous framing', chunked('', '').replace('chunked', 'gzip, chunked'), 400],
  ] as const)('is not reset after %s, because it could lose the response', async ([, bytes, status]) => {
    const api = await listen(shared())
    const socket = await openSocket(api.url)
    const received = collect(socket)
    socket.write(bytes.replace('KEY', api.authorization))
    await once(socket, 'data')
    expect(await sendAll(socket, plenty)).toBeUndefined()
    expect(statusesIn(received.text)).toEqual([status])
    socket.end()
    await expectNoConnections(api)
  })

  test('is not reset after a body that becomes invalid after its response', async () => {
    const { url } = await listen(shared())
    const socket = await openSocket(url)
    const received = collect(socket)
    socket.write(chunked('', ''))
    await once(socket, 'data')
    socket.write('zz\r\n')
    await once(socket, 'end')
    expect(await sendAll(socket, plenty)).toBeUndefined()
    expect(statusesIn(received.text)).toEqual([401])
  })

  test('is disconnected', async () => {
    const api = await listen(shared())
    const socket = await openSocket(api.url)
    const sending = setInterval(() => socket.write('more'), 50)
    onTestFinished(() => clearInterval(sending))
    socket.resume().write('GARBAGE\r\n\r\n')
    await closing(socket)
    await expectNoConnections(api)
  })
})

test.for([
  ['in one packet', (first: string, second: string) => [first + second]],
  ['in another packet', (first: string, second: string) => [first, second]],
] as const)('requests after a request to upgrade are ignored, and the connection ends: %s', async ([, packets]) => {
  const { url, authorization, rest } = await listen()
  const socket = await openSocket(url)
  const received = collect(socket)
  for (const packet of packets(`GET / HTTP/1.1\r\n${host}${upgrade}\r\n`, createRequest(authorization))) {
    await sendAll(socket, packet)
  }
  await once(socket, 'end')
  expect(statusesIn(received.text)).toEqual([302])
  expect(received.text).toMatch(/\r\nconnection: close\r\n/i)
  expect((await rest.get('/v1/notes')).body).toEqual([])
})

describe.for(['1.0', '1.1'])('an HTTP/%s client with keep-alive', (version) => {
  test.for([
    ['a list', 200, 'GET /v1/notes', '', ''],
    ['a request without a key', 401, 'GET /v1/notes', 'Authorization: none\r\n', ''],
    ['a missing note', 404, 'GET /v1/notes/999', '', ''],
    ['a wrong method', 405, 'PUT /v1/notes', '', ''],
    ['an unknown path', 404, 'GET /nothing', '', ''],
    ['a malformed URL', 400, 'GET /%zz', '', ''],
    ['malformed JSON', 400, 'POST /v1/notes', json, '{'],
    ['a body of another type', 415, 'POST /v1/notes', 'Content-Type: text/plain\r\n', 'x'],
  ] as const)('may keep the connection after %s', async ([, status, line, headers, body]) => {
    const { url, authorization } = await listen(shared())
    const socket = await openSocket(url)
    const received = collect(socket)
    const key = headers.startsWith('Authorization') ? '' : authorization
    const keep = `Connection: keep-alive\r\nContent-Length: ${body.length}\r\n`
    const request = `${line} HTTP/${version}\r\n${host}${key}${headers}${keep}\r\n${body}`
    for (const count of [1, 2]) {
      socket.write(request)
      await expect.poll(() => statusesIn(received.text)).toEqual(Array(count).fill(status))
    }
    expect(received.text.match(/^connection: keep-alive\r$/gim)).toHaveLength(2)
    expect(received.text.match(/^keep-alive: timeout=75\r$/gim)).toHaveLength(2)
  })
})

function chunked(headers: string, chunks: string): string {
  return `POST /v1/notes HTTP/1.1\r\n${host}${json}${headers}Transfer-Encoding: chunked\r\n\r\n${chunks}`
}

/** Resolves when every byte is sent, with the error if the connection breaks. */
function sendAll(socket: Socket, bytes: Buffer | string): Promise<Error | undefined> {
  return new Promise((resolve) => socket.write(bytes, (error) => resolve(error ?? undefined)))
}

async function expectNoConnections({ app }: ListeningApi): Promise<void> {
  const connections = promisify(app.server.getConnections.bind(app.server))
  await expect.poll(() => connections()).toBe(0)
}

/** Clients that keep their connections open must not lock out others. */
const get = `GET / HTTP/1.1\r\n${host}Connection: close\r\n\r\n`
const large = Buffer.alloc(16 * 2 ** 20)

async function startFull(connections: number) {
  const listener: RequestListener = ({ url }, response) => void response.end(url === '/large' ? large : 'small')
  return startHttpServer(listener, new Connections(connections))
}

test('with clients on all connections that never complete a request or never read, a new client is served', async () => {
  const { url, sockets } = await startFull(8)
  for (const { name, open } of stubbornClients(url, '', '/large', createRequest)) {
    await open()
    expect(await exchange(url, get), name).toMatchObject([{ status: 200, body: 'small' }])
  }
  expect(sockets.filter(({ destroyed }) => !destroyed).length).toBeLessThanOrEqual(8)
})

test('a connection whose request ended after its response is idle', async () => {
  const { url, sockets } = await startFull(3)
  const [early, old, recent] = [await openSocket(url), await openSocket(url), await openSocket(url)]
  early.write(`POST / HTTP/1.1\r\n${host}Content-Length: 3\r\n\r\n`)
  await once(early, 'data')
  early.write('abc')
  for (const socket of [old, recent]) {
    socket.write(`GET / HTTP/1.1\r\n${host}\r\n`)
    await once(socket, 'data')
  }
  await openSocket(url)
  await expect.poll(() => sockets.map(({ destroyed }) => destroyed)).toEqual([true, false, false, false])
})

test('an idle connection is closed before one with a request in progress, the longest idle one first', async () => {
  const { url, sockets } = await startFull(3)
  const [busy, old, recent] = [await openSocket(url), await openSocket(url), await openSocket(url)]
  busy.write(`GET /large HTTP/1.1\r\n${host}\r\n`)
  await expect.poll(() => sockets[0]?.writableLength, { interval: 1 }).toBeGreaterThan(0)
  for (const socket of [recent, old, recent]) {
    socket.write(`GET / HTTP/1.1\r\n${host}\r\n`)
    await new Promise((resolve) => socket.once('data', resolve))
  }
  await openSocket(url)
  await expect.poll(() => sockets.map(({ destroyed }) => destroyed)).toEqual([false, true, false, false])
})
