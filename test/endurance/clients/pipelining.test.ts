import { setTimeout as wait } from 'node:timers/promises'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { isLongForm } from '../../../engine/test/support/long-form.ts'
import { residentMemory, type Server, waitForOutput } from '../../../engine/test/support/process.ts'
import { closing, host, openSocket } from '../../../engine/test/support/raw-http.ts'
import { largestFile } from '../../support/built-console.ts'
import { bannerKey, createRequest, shareServer } from '../../support/petstore.ts'

/** The heap options of `npm start`. */
const startOptions = { NODE_OPTIONS: '--max-semi-space-size=8 --max-old-space-size=512' }

const listClients = isLongForm ? 100 : 50

describe('clients that pipeline requests and never read', () => {
  const server = shareServer({ env: startOptions })
  let before: number

  beforeAll(async () => {
    await (await fetch(server().url + largestFile)).arrayBuffer()
    before = residentMemory(server())
  })

  test('do not slow the service or fill its memory with 300 requests for the largest file', async () => {
    const socket = await openSocket(server().url)
    socket.write(`GET ${largestFile} HTTP/1.1\r\n${host}\r\n`.repeat(300))
    const { slowest, largest } = await watch(server(), 1_500)
    expect(slowest).toBeLessThan(2_000)
    expect(largest - before).toBeLessThan(100)
  })

  test('do not slow the service or fill its memory with 60,000 requests of 18 bytes', async () => {
    const sockets = await Promise.all(Array.from({ length: 75 }, () => openSocket(server().url)))
    for (const socket of sockets) socket.write('GET / HTTP/1.1\r\n\r\n'.repeat(800))
    const { slowest, largest } = await watch(server(), 1_500)
    expect(slowest).toBeLessThan(30_000)
    expect(largest).toBeLessThan(400)
  })

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
  })
})

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
