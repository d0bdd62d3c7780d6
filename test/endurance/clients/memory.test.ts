import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { maxStopTime } from '../../../engine/service/serve/serve.ts'
import { isLongForm, report } from '../../../engine/test/support/long-form.ts'
import { residentMemory, type Server, stopService } from '../../../engine/test/support/process.ts'
import { host, openSocket } from '../../../engine/test/support/raw-http.ts'
import { largestFile } from '../../support/built-console.ts'
import { startWithKey } from '../../support/petstore.ts'

/** Clients whose responses together have hundreds of megabytes. */

/** The heap options of `npm start`. */
const startOptions = { NODE_OPTIONS: '--max-semi-space-size=8 --max-old-space-size=512' }
const burstClients = 400
const listClients = isLongForm ? 100 : 50

describe('clients that pipeline requests and never read', () => {
  test('do not slow the service or fill its memory with 300 requests for the largest file', async () => {
    const { server } = await startFilled()
    await (await fetch(server.url + largestFile)).arrayBuffer()
    const before = residentMemory(server)
    const socket = await openSocket(server.url)
    socket.write(`GET ${largestFile} HTTP/1.1\r\n${host}\r\n`.repeat(300))
    const { livez, memory } = await watch(server, wait(1_500))
    expect(livez).toBeLessThan(2_000)
    expect(memory - before).toBeLessThan(100)
  })

  test('do not slow the service or fill its memory with 60,000 requests of 18 bytes', async () => {
    const { server } = await startFilled()
    for (const socket of await openSockets(server, 75)) socket.write('GET / HTTP/1.1\r\n\r\n'.repeat(800))
    const { livez, memory } = await watch(server, wait(1_500))
    expect(livez).toBeLessThan(30_000)
    expect(memory).toBeLessThan(400)
  })

  test(`do not slow the service or fill its memory with ${listClients} connections of 200 lists each`, async () => {
    const { server, authorization } = await startFilled()
    const list = (index: number) => `GET /v1/pets?limit=100&x=${index} HTTP/1.1\r\n${host}${authorization}\r\n`
    const lists = Array.from({ length: 200 }, (_, index) => list(index)).join('')
    for (const socket of await openSockets(server, listClients)) socket.write(lists)
    const { livez, memory } = await watch(server, wait(1_500))
    expect(livez).toBeLessThan(10_000)
    expect(memory).toBeLessThan(isLongForm ? 500 : 400)
    expect(server.stderr).toBe('')
  })
})

describe.for(['identity', 'br'])('a burst of batches of long lists, with Accept-Encoding: %s', (encoding) => {
  test('delays /livez little, keeps the memory small, and gets 503 for what exceeds it', async () => {
    const { server, authorization } = await startFilled()
    const burst = startBurst(server, authorization, encoding)
    const seen = await watch(server, burst)
    const statuses = await burst
    const served = statuses.filter((status) => status === 200).length
    report('A burst of batches', { encoding, served, ...seen })
    expect(served).toBeGreaterThan(0)
    expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([])
    // On an idle machine below 1 s.
    expect(seen.livez).toBeLessThan(6_000)
    expect(seen.memory).toBeLessThan(400)
    expect(server.stderr).toBe('')
  })

  test('does not delay a stop', async () => {
    const { server, authorization } = await startFilled()
    // The stop may reset connections that are still being opened.
    startBurst(server, authorization, encoding).catch(() => {})
    await wait(500)
    const asked = performance.now()
    await stopService(server)
    const seconds = (performance.now() - asked) / 1_000
    report('A stop in a burst of batches', { encoding, seconds })
    // Until its process ends, a busy machine takes longer.
    expect(seconds).toBeLessThan((2 * maxStopTime) / 1_000)
    expect(server.stdout).not.toContain('stopped by force')
  })
})

/** Starts a service with 100 pets that have the longest name. */
async function startFilled() {
  const { server, key, rest } = await startWithKey(startOptions)
  const pet = { name: '\u{1F436}'.repeat(255), categoryId: 1 }
  await Promise.all(Array.from({ length: 100 }, () => rest.post('/v1/pets', pet)))
  return { server, authorization: `Authorization: Bearer ${key}\r\n` }
}

function openSockets({ url }: Server, count: number) {
  return Promise.all(Array.from({ length: count }, () => openSocket(url)))
}

/** Requests `/livez` until the end. Returns its longest time in milliseconds, and the largest memory in MiB. */
async function watch(server: Server, end: Promise<unknown>): Promise<{ livez: number; memory: number }> {
  const seen = { livez: 0, memory: 0 }
  const sampling = setInterval(() => (seen.memory = Math.max(seen.memory, residentMemory(server))), 20)
  onTestFinished(() => clearInterval(sampling))
  let isOver = false
  void end.finally(() => (isOver = true))
  for (; !isOver; await wait(20)) {
    const start = performance.now()
    const response = await fetch(`${server.url}/livez`, { headers: { connection: 'close' } })
    expect(response.status).toBe(200)
    seen.livez = Math.max(seen.livez, performance.now() - start)
  }
  return seen
}

/** Sends one batch of twenty long lists on each connection, at once. Resolves to the statuses, 0 for a closed connection. */
async function startBurst(server: Server, authorization: string, encoding: string): Promise<number[]> {
  const sockets = await openSockets(server, burstClients)
  const path = `/trpc/${Array(20).fill('pets.list').join(',')}`
  const input = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [index, { json: { limit: 100 } }]))
  const headers = `${host}${authorization}Accept-Encoding: ${encoding}\r\nConnection: close\r\n`
  return Promise.all(
    sockets.map(async (socket, index) => {
      // Different URLs, so that no response is cached.
      const query = `batch=1&x=${index}&input=${encodeURIComponent(JSON.stringify(input))}`
      socket.write(`GET ${path}?${query} HTTP/1.1\r\n${headers}\r\n`)
      const [first] = await Promise.race([once(socket, 'data'), once(socket, 'close').then(() => [''])])
      socket.resume()
      if (first !== '') await once(socket, 'end')
      return Number(String(first).split(' ')[1] ?? 0)
    }),
  )
}
