import type { Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { limits } from '../../../engine/service/http/limits.ts'
import { maxCommitTime } from '../../../engine/store/sqlite/writer/writer.ts'
import { isLongForm, report } from '../../../engine/test/support/long-form.ts'
import { residentMemory } from '../../../engine/test/support/process.ts'
import { closing, collect, openSocket, parseResponses } from '../../../engine/test/support/raw-http.ts'
import { connectRestClient, type RestResponse } from '../../../engine/test/support/rest-client.ts'
import { canTrace, hangingDisk } from '../../../engine/test/support/traced.ts'
import { createRequest, startTraced, startWithKey } from '../../support/petstore.ts'

const idleSockets = isLongForm ? 5_000 : 1_000
/** Milliseconds. Node checks its connections once a second, and this machine may be busy. */
const tolerance = 10_000

test(`${idleSockets} idle sockets, slow headers and slow bodies get 408 or are closed in time, while a fast client is served`, async () => {
  const { server, key } = await startWithKey()
  const memory = residentMemory(server)
  const client = startFastClient(server.url, key, true)
  const post = createRequest(`Authorization: Bearer ${key}\r\n`, '', 10_000)
  const slow = {
    headers: await Promise.all(
      Array.from({ length: 50 }, () => openSlowly(server.url, 'GET /v1/pets HTTP/1.1\r\nX: ', 'x')),
    ),
    bodies: await Promise.all(Array.from({ length: 50 }, () => openSlowly(server.url, post, ' '))),
    idle: await openMany(server.url, idleSockets),
  }
  const largest = residentMemory(server)
  const longest = async (times: Promise<number>[]) => Math.round(Math.max(...(await Promise.all(times))))
  const [headers, bodies, idle] = await Promise.all([
    longest(slow.headers.map(({ ended }) => ended)),
    longest(slow.bodies.map(({ ended }) => ended)),
    longest(slow.idle.map(({ ended }) => ended)),
  ])
  const p99 = await client.stop()

  report('Slow clients', { headers, bodies, idle, p99, memory, largest })
  expect(slow.idle).toHaveLength(idleSockets)
  expect(headers).toBeLessThan(limits.headersTime + tolerance)
  expect(bodies).toBeLessThan(limits.requestTime + tolerance)
  expect(idle).toBeLessThan(limits.headersTime + tolerance)
  const responses = [...slow.headers, ...slow.bodies].map(({ received }) => parseResponses(received.text)[0])
  for (const response of responses) {
    expect(response).toMatchObject({ status: 408, body: expect.stringContaining('"code":"request_timeout"') })
  }
  expect(client.failures).toEqual([])
  expect(p99).toBeLessThan(limits.headersTime / 5)
})

// strace makes the disk hang from outside the process.
if (canTrace()) {
  test('a create on a disk that hangs gets 503 in time, while a fast client continues to read', async () => {
    const { server, key, rest: caller } = await startTraced(hangingDisk)
    const client = startFastClient(server.url, key, false)
    let start = 0
    let response: RestResponse
    do {
      start = performance.now()
      response = await caller.post('/v1/pets', { name: 'Rex', categoryId: 1 })
    } while (response.status === 201)
    const milliseconds = Math.round(performance.now() - start)
    const health = [await fetch(`${server.url}/livez`), await fetch(`${server.url}/readyz`)]
    const p99 = await client.stop()

    report('A disk that hangs', { milliseconds, p99 })
    expect([response.status, response.headers['retry-after']]).toEqual([503, '1'])
    expect(milliseconds).toBeLessThan(maxCommitTime + tolerance)
    expect(health.map(({ status }) => status)).toEqual([200, 503])
    expect(client.failures).toEqual([])
    expect(p99).toBeLessThan(maxCommitTime / 10)
  })
}

/** Sends one request after the other: lists, and creates too if it `writes`. */
function startFastClient(url: string, key: string, writes: boolean) {
  const caller = connectRestClient(url, key)
  const times: number[] = []
  const failures: string[] = []
  let isStopping = false
  const running = run()

  async function run(): Promise<void> {
    for (let i = 0; !isStopping; i++) {
      const start = performance.now()
      const isCreate = writes && i % 2 === 0
      const { status } = await (isCreate
        ? caller.post('/v1/pets', { name: `pet ${i}`, categoryId: 1 })
        : caller.get('/v1/pets?limit=20'))
      times.push(performance.now() - start)
      if (status !== (isCreate ? 201 : 200)) failures.push(`${status}`)
      // Without a pause it would take a CPU from the other test files.
      if (!isLongForm) await wait(2)
    }
  }
  async function stop(): Promise<number> {
    isStopping = true
    await running
    return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? Number.NaN
  }
  return { failures, stop }
}

interface SlowConnection {
  socket: Socket
  received: { text: string }
  /** Resolves with the milliseconds until the server ended the connection. */
  ended: Promise<number>
}

/** A client that sends the beginning of a request, and then a few useless bytes at a time. */
async function openSlowly(url: string, beginning: string, trickle: string): Promise<SlowConnection> {
  const socket = await openSocket(url)
  const start = performance.now()
  const received = collect(socket)
  socket.write(beginning)
  const timer = setInterval(() => socket.write(trickle), 300)
  const ended = closing(socket).then(() => {
    clearInterval(timer)
    return performance.now() - start
  })
  // A half-closed connection would stay open.
  socket.once('end', () => socket.destroy())
  return { socket, received, ended }
}

/** Opens the sockets in groups of 100, because the backlog of a listener is short. */
async function openMany(url: string, count: number): Promise<SlowConnection[]> {
  const connections: SlowConnection[] = []
  while (connections.length < count) {
    connections.push(...(await Promise.all(Array.from({ length: 100 }, () => openSlowly(url, '', '')))))
    await wait(1)
  }
  return connections
}
