import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { maxStopTime } from '../../../engine/service/serve/serve.ts'
import { report } from '../../../engine/test/support/long-form.ts'
import { residentMemory, type Server, stopService, waitForOutput } from '../../../engine/test/support/process.ts'
import { host, openSocket } from '../../../engine/test/support/raw-http.ts'
import { connectRestClient } from '../../../engine/test/support/rest-client.ts'
import { bannerKey, startServer } from '../../support/petstore.ts'

/** 400 connections send one batch of twenty long lists each, at once. Together the responses have 800 MB. */

/** The heap options of `npm start`. */
const startOptions = { NODE_OPTIONS: '--max-semi-space-size=8 --max-old-space-size=512' }
const connections = 400

describe.for(['identity', 'br'])('a burst of batches of long lists, with Accept-Encoding: %s', (encoding) => {
  test('delays /livez little, keeps the memory small, and gets 503 for what exceeds it', async () => {
    const { server, key } = await startFilled()
    const seen = { livez: 0, memory: 0 }
    const sampling = setInterval(() => (seen.memory = Math.max(seen.memory, residentMemory(server))), 20)
    onTestFinished(() => clearInterval(sampling))
    const burst = startBurst(server, key, encoding)
    let isOver = false
    const ended = burst.then(() => (isOver = true))
    while (!isOver) {
      const start = performance.now()
      const response = await fetch(`${server.url}/livez`, { headers: { connection: 'close' } })
      expect(response.status).toBe(200)
      seen.livez = Math.max(seen.livez, performance.now() - start)
      await wait(20)
    }
    await ended
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
    const { server, key } = await startFilled()
    // The stop may reset connections that are still being opened.
    startBurst(server, key, encoding).catch(() => {})
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
async function startFilled(): Promise<{ server: Server; key: string }> {
  const server = await startServer({ env: startOptions })
  const key = await waitForOutput(server, bannerKey)
  const client = connectRestClient(server.url, key)
  const pet = { name: '\u{1F436}'.repeat(255), categoryId: 1 }
  await Promise.all(Array.from({ length: 100 }, () => client.post('/v1/pets', pet)))
  return { server, key }
}

/** Opens the connections and sends the requests. The promise inside resolves to the statuses, 0 for a closed connection. */
async function startBurst({ url }: Server, key: string, encoding: string): Promise<number[]> {
  const sockets = await Promise.all(Array.from({ length: connections }, () => openSocket(url)))
  const path = `/trpc/${Array(20).fill('pets.list').join(',')}`
  const input = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [index, { json: { limit: 100 } }]))
  const headers = `${host}Authorization: Bearer ${key}\r\nAccept-Encoding: ${encoding}\r\nConnection: close\r\n`
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
