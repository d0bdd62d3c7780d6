import type { Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { maxCommitTime } from '../../db/sqlite/writer.ts'
import { limits } from '../../server/http/server.ts'
import { type Answer, Caller } from '../support/caller.ts'
import { isLongForm, report } from '../support/long-form.ts'
import { bannerKey, residentMemory, startServer, waitForOutput } from '../support/process.ts'
import { closing, collect, openSocket, parseAnswers } from '../support/raw-http.ts'
import { canTrace, hangingDisk, startTraced } from '../support/traced.ts'

const idleSockets = isLongForm ? 5_000 : 1_000
/** Node looks at its connections once a second. */
const tolerance = 2_000

test(`${idleSockets} idle sockets, slow headers and slow bodies are answered 408 or closed in time, and a good client is served meanwhile`, async () => {
  const server = await startServer()
  const key = await waitForOutput(server, bannerKey)
  const memory = residentMemory(server)
  const client = startGoodClient(server.url, key, true)
  const slow = {
    headers: await Promise.all(
      Array.from({ length: 50 }, () => lifeOf(server.url, 'GET /v1/pets HTTP/1.1\r\nX: ', 'x')),
    ),
    bodies: await Promise.all(Array.from({ length: 50 }, () => lifeOf(server.url, postHead(key), ' '))),
    idle: await openMany(server.url, idleSockets),
  }
  const largest = residentMemory(server)
  const longest = async (lives: Promise<number>[]) => Math.round(Math.max(...(await Promise.all(lives))))
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
  const answers = [...slow.headers, ...slow.bodies].map(({ received }) => parseAnswers(received.text)[0])
  for (const answer of answers) {
    expect(answer).toMatchObject({ status: 408, body: expect.stringContaining('"code":"request_timeout"') })
  }
  expect(client.failures).toEqual([])
  expect(p99).toBeLessThan(100)
}, 60_000)

// Only from outside can a disk be made to hang.
if (canTrace()) {
  test('a creation that hangs with the disk is answered 503 in time, and a good client reads on', async () => {
    const { server, key } = await startTraced(hangingDisk)
    const client = startGoodClient(server.url, key, false)
    const caller = new Caller(server.url, key)
    let start = 0
    let answer: Answer
    do {
      start = performance.now()
      answer = await caller.post('/v1/pets', { name: 'Rex', categoryId: 1 })
    } while (answer.status === 201)
    const milliseconds = Math.round(performance.now() - start)
    const health = [await fetch(`${server.url}/livez`), await fetch(`${server.url}/readyz`)]
    const p99 = await client.stop()

    report('A disk that hangs', { milliseconds, p99 })
    expect([answer.status, answer.headers['retry-after']]).toEqual([503, '1'])
    expect(milliseconds).toBeLessThan(maxCommitTime + tolerance)
    expect(health.map(({ status }) => status)).toEqual([200, 503])
    expect(client.failures).toEqual([])
    expect(p99).toBeLessThan(100)
  }, 60_000)
}

/** Lists, and creates if it `writes`, one request after the other. */
function startGoodClient(url: string, key: string, writes: boolean) {
  const caller = new Caller(url, key)
  const times: number[] = []
  const failures: string[] = []
  let isStopping = false
  const running = run()

  async function run(): Promise<void> {
    for (let i = 0; !isStopping; i++) {
      const start = performance.now()
      const isCreation = writes && i % 2 === 0
      const { status } = await (isCreation
        ? caller.post('/v1/pets', { name: `pet ${i}`, categoryId: 1 })
        : caller.get('/v1/pets?limit=20'))
      times.push(performance.now() - start)
      if (status !== (isCreation ? 201 : 200)) failures.push(`${status}`)
      // As fast as it can, it would take a processor from the other suites.
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

interface Life {
  socket: Socket
  received: { text: string }
  /** Resolves with the milliseconds for which the server bore with it. */
  ended: Promise<number>
}

/** A client that sends a beginning, and then little by little nothing of use. */
async function lifeOf(url: string, beginning: string, trickle: string): Promise<Life> {
  const socket = await openSocket(url)
  const born = performance.now()
  const received = collect(socket)
  socket.write(beginning)
  const timer = setInterval(() => socket.write(trickle), 300)
  const ended = closing(socket).then(() => {
    clearInterval(timer)
    return performance.now() - born
  })
  // What is half open would go on for ever.
  socket.once('end', () => socket.destroy())
  return { socket, received, ended }
}

/** So many that they are opened in portions, as the backlog of a listener is short. */
async function openMany(url: string, count: number): Promise<Life[]> {
  const lives: Life[] = []
  while (lives.length < count) {
    lives.push(...(await Promise.all(Array.from({ length: 100 }, () => lifeOf(url, '', '')))))
    await wait(1)
  }
  return lives
}

function postHead(key: string): string {
  return [
    'POST /v1/pets HTTP/1.1',
    'Host: petstore.test',
    `Authorization: Bearer ${key}`,
    'Content-Type: application/json',
    'Content-Length: 10000',
    '\r\n',
  ].join('\r\n')
}
