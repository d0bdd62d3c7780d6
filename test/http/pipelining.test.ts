import type { Socket } from 'node:net'
import { expect, test } from 'vitest'
import {
  closing,
  collect,
  createRequest,
  host,
  listen,
  openSocket,
  startHttpServer,
  statusesIn,
} from '../support/raw-http.ts'

/** Pipelining (RFC 9112, section 9.3.2): requests that a client sends before it has received the previous response. */

test('responses to pipelined requests arrive in the order of the requests, which run one after the other', async () => {
  const { url, authorization, rest } = await listen()
  const socket = await openSocket(url)
  const received = collect(socket)
  const names = Array.from({ length: 100 }, (_, index) => `pet ${index}`)
  const create = (name: string) => createRequest(authorization, JSON.stringify({ name, categoryId: 1 }))
  socket.end(names.map(create).join(''))
  await closing(socket)
  expect(statusesIn(received.text)).toEqual(names.map(() => 201))
  expect([...received.text.matchAll(/"name":"(.*?)"/g)].map(([, name]) => name)).toEqual(names)
  expect((await rest.get('/v1/pets?limit=2')).body).toEqual([
    expect.objectContaining({ id: 1, name: 'pet 0' }),
    expect.objectContaining({ id: 2, name: 'pet 1' }),
  ])
})

test('a pipelined request sees the pet that the previous request created', async () => {
  const { url, authorization } = await listen()
  const socket = await openSocket(url)
  const received = collect(socket)
  socket.end(`${createRequest(authorization)}GET /v1/pets/1 HTTP/1.1\r\n${host}${authorization}\r\n`)
  await closing(socket)
  expect(statusesIn(received.text)).toEqual([201, 200])
})

test('a connection on which more than 1,000 requests wait for a response is closed', async () => {
  const { url, sockets: served } = await startHttpServer(() => {})
  const [open, closed] = [await openSocket(url), await openSocket(url)]
  open.write('GET / HTTP/1.1\r\n\r\n'.repeat(1_001))
  closed.write('GET / HTTP/1.1\r\n\r\n'.repeat(1_002))
  await expect.poll(() => served.map(({ destroyed }) => destroyed)).toEqual([false, true])
  expect(served[0]?.bytesRead).toBeGreaterThan(0)
})

test('while more than 10,000 requests wait, the connections that hold most are closed, and others are served', async () => {
  const { url, sockets: served } = await startHttpServer((request, response) => {
    if (request.url === '/') setImmediate(() => response.end())
  })
  const client = await openSocket(url)
  const received = collect(client)
  const waiting = () => served.slice(1).filter(({ destroyed }) => !destroyed).length * 899
  for (let i = 1; i <= 20; i++) {
    const socket = await openSocket(url)
    socket.write('GET /wait HTTP/1.1\r\n\r\n'.repeat(900))
    await expect.poll(() => served[i]?.bytesRead || served[i]?.destroyed, { interval: 1 }).toBeTruthy()
    client.write('GET / HTTP/1.1\r\n\r\n'.repeat(200))
    await expect.poll(() => statusesIn(received.text).length, { interval: 1 }).toBe(200 * i)
    expect(waiting()).toBeLessThan(10_000)
  }
  expect(waiting()).toBeGreaterThan(8_000)
  expect(served.map(({ destroyed }) => destroyed).indexOf(true)).toBe(1)
})

test('clients that do not read their responses are disconnected, the slowest first, before the responses fill the memory', async () => {
  const body = Buffer.alloc(8 * 1024 * 1024)
  const { url, sockets: served } = await startHttpServer((_request, response) => void response.end(body))
  const sockets: Socket[] = []
  for (let i = 0; i < 60; i++) {
    const socket = await openSocket(url)
    sockets.push(socket)
    socket.write(`GET / HTTP/1.1\r\n${host}\r\n`)
    await expect.poll(() => served[i]?.bytesWritten, { interval: 1 }).toBeGreaterThan(body.length)
  }
  const unsent = served.reduce((sum, { destroyed, writableLength }) => sum + (destroyed ? 0 : writableLength), 0)
  expect(unsent).toBeLessThan(130 * 1024 * 1024)
  expect(served.map(({ destroyed }) => destroyed).lastIndexOf(true)).toBeLessThan(55)
  const last = collect(sockets[59] as Socket)
  await expect.poll(() => last.text.length).toBeGreaterThan(body.length)
})
