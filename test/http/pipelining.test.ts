import type { Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { isLongForm } from '../support/long-form.ts'
import { bannerKey, residentMemory, type Server, shareServer, waitForOutput } from '../support/process.ts'
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

/** The heap options of `npm start`. */
const startOptions = { NODE_OPTIONS: '--max-semi-space-size=8 --max-old-space-size=512' }

const listClients = isLongForm ? 100 : 50

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

describe('clients that pipeline requests and never read', () => {
  const server = shareServer({ env: startOptions })
  let before: number

  beforeAll(async () => {
    await (await fetch(server().url + (await scriptPath(server())))).arrayBuffer()
    before = residentMemory(server())
  })

  test('do not slow the service or fill its memory with 300 requests for the largest file', async () => {
    const socket = await openSocket(server().url)
    socket.write(`GET ${await scriptPath(server())} HTTP/1.1\r\n${host}\r\n`.repeat(300))
    const { slowest, largest } = await watch(server(), 1_500)
    expect(slowest).toBeLessThan(2_000)
    expect(largest - before).toBeLessThan(100)
  }, 90_000)

  test('do not slow the service or fill its memory with 60,000 requests of 18 bytes', async () => {
    const sockets = await Promise.all(Array.from({ length: 20 }, () => openSocket(server().url)))
    for (const socket of sockets) socket.write('GET / HTTP/1.1\r\n\r\n'.repeat(3_000))
    const { slowest, largest } = await watch(server(), 1_500)
    expect(slowest).toBeLessThan(10_000)
    expect(largest).toBeLessThan(400)
  }, 90_000)

  test(`do not slow the service or fill its memory with ${listClients} connections of 200 lists each`, async () => {
    const authorization = `Authorization: Bearer ${await waitForOutput(server(), bannerKey)}\r\n`
    await fill(server(), authorization)
    const sockets = await Promise.all(Array.from({ length: listClients }, () => openSocket(server().url)))
    const lists = Array.from(
      { length: 200 },
      (_, i) => `GET /v1/pets?limit=100&x=${i} HTTP/1.1\r\n${host}${authorization}\r\n`,
    )
    for (const socket of sockets) socket.write(lists.join(''))
    const { slowest, largest } = await watch(server(), 1_500)
    expect(slowest).toBeLessThan(10_000)
    expect(largest).toBeLessThan(isLongForm ? 500 : 400)
    expect(server().stderr).toBe('')
  }, 90_000)
})

test('clients that pipeline are disconnected while more than 10,000 requests wait for a response', async () => {
  const requests = 3_000
  const { url, sockets: served } = await startHttpServer(() => {})
  const waiting = () => served.filter(({ destroyed }) => !destroyed).length * (requests - 1)
  for (let i = 0; i < 20; i++) {
    const socket = await openSocket(url)
    socket.write('GET / HTTP/1.1\r\n\r\n'.repeat(requests))
    await expect.poll(() => served[i]?.bytesRead || served[i]?.destroyed, { interval: 1 }).toBeTruthy()
    expect(waiting()).toBeLessThan(10_000)
  }
  expect(waiting()).toBeGreaterThan(7_000)
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
  await expect.poll(() => last.text.length, { timeout: 10_000 }).toBeGreaterThan(body.length)
})

/** The path of the largest file, the script of the API reference. */
async function scriptPath({ url }: Server): Promise<string> {
  const page = await (await fetch(`${url}/docs/`)).text()
  return new URL(/<script src="([^"]+)"/.exec(page)?.[1] ?? '', `${url}/docs/`).pathname
}

/** Creates 100 pets with the longest name. */
async function fill(server: Server, authorization: string): Promise<void> {
  const socket = await openSocket(server.url)
  socket
    .resume()
    .end(
      createRequest(authorization, JSON.stringify({ name: '\u{1F436}'.repeat(255), categoryId: 1 }), 1_046).repeat(100),
    )
  await closing(socket)
}

/** Requests `/livez` every 50 ms, each time on a new connection. */
async function watch(server: Server, milliseconds: number): Promise<{ slowest: number; largest: number }> {
  const seen = { slowest: 0, largest: 0 }
  const sampling = setInterval(() => (seen.largest = Math.max(seen.largest, residentMemory(server))), 20)
  onTestFinished(() => clearInterval(sampling))
  for (const end = performance.now() + milliseconds; performance.now() < end; await wait(50)) {
    const start = performance.now()
    const response = await fetch(`${server.url}/livez`, { headers: { connection: 'close' } })
    expect(response.status).toBe(200)
    seen.slowest = Math.max(seen.slowest, performance.now() - start)
  }
  return seen
}
