import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { Agent } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { bannerKey, createInTwoParts, runProgram, shareServer, startServer } from '../../../test/notes/fixtures.ts'
import { readMetric } from '../../../test/support/metrics.ts'
import { waitForOutput } from '../../../test/support/process.ts'
import { exchange, host, openSocket } from '../../../test/support/raw-http.ts'
import { temporaryFolder } from '../../../test/support/temporary.ts'

test('with ADMIN_PORT, metrics and health are on a port of their own until the service has stopped', async () => {
  const server = await startServer({ env: { ADMIN_PORT: '0' } })
  const key = await waitForOutput(server, bannerKey)
  const admin = await waitForOutput(server, /metrics and health at (http:[^"\s]+)/)
  const { pathname, hostname } = new URL(admin)
  expect([pathname, hostname]).toEqual(['/', '127.0.0.1'])
  for (const path of ['livez', 'readyz', 'metrics'])
    await expect.poll(async () => (await fetch(`${admin}/${path}`)).status, { message: path }).toBe(200)
  const text = await (await fetch(`${admin}/metrics`)).text()
  expect(readMetric(text, 'process_open_fds')).toBeGreaterThan(10)
  expect((await fetch(`${server.url}/metrics`)).status).toBe(404)
  for (const path of ['', 'v1/notes', 'trpc/notes.list', 'openapi.json', 'docs/'])
    expect((await fetch(`${admin}/${path}`)).status, path).toBe(404)

  const ready = async () => (await fetch(`${admin}/readyz`)).status
  const agent = new Agent()
  onTestFinished(() => agent.destroy())
  const { begun, response, finish } = createInTwoParts(server.url, key, agent, 'in progress')
  await begun
  server.child.kill('SIGTERM')
  await expect.poll(ready, { interval: 5 }).toBe(503)
  await expect.poll(() => fetch(`${server.url}/livez`).then(String, () => 'closed'), { interval: 5 }).toBe('closed')
  expect(await ready()).toBe(503)
  expect((await fetch(`${admin}/livez`)).status).toBe(200)
  finish()
  expect((await response).status).toBe(201)
  expect(await server.ended).toBe(0)
  await expect(ready()).rejects.toThrow()
})

describe('the admin port', () => {
  const server = shareServer({ env: { ADMIN_PORT: '0' } })
  const adminUrl = () => waitForOutput(server(), /metrics and health at (http:[^"\s]+)/)

  test('serves health checks, and one scrape for each connection, beside clients that pipeline scrapes and do not read', async () => {
    const admin = await adminUrl()
    for (let i = 0; i < 64; i++) {
      const socket = await openSocket(admin)
      socket.write(`GET /metrics HTTP/1.1\r\n${host}\r\n`.repeat(150))
    }
    for (let i = 0; i < 10; i++) expect((await fetch(`${admin}/livez`)).status).toBe(200)
    let ownScrapes = 0
    async function countScrapes(): Promise<number> {
      ownScrapes++
      const text = await (await fetch(`${admin}/metrics`)).text()
      return readMetric(text, 'notes_request_duration_seconds_count', { operation: 'metrics' }) ?? 0
    }
    // The text is up to a second old.
    await expect.poll(countScrapes).toBeGreaterThanOrEqual(64)
    expect(await countScrapes()).toBeLessThanOrEqual(64 + ownScrapes)
  })

  test.for([
    ['1.1', ''],
    ['1.1', 'Expect: 100-continue\r\n'],
    ['1.0', 'Connection: keep-alive\r\n'],
  ])('ends a connection after one response (HTTP/%s %j)', async ([version, header]) => {
    const request = `GET /livez HTTP/${version}\r\n${host}${header}\r\n`
    const received = await exchange(await adminUrl(), request.repeat(2))
    const responses = received.filter(({ status }) => status !== 100)
    expect(responses.map(({ status, headers }) => [status, headers.get('connection')])).toEqual([[200, 'close']])
  })
})

test.for(['PORT', 'ADMIN_PORT'])('a port in use is refused as %s, and no file is created', async (name) => {
  const folder = temporaryFolder()
  const other = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void other.close())
  await once(other, 'listening')
  // Safe: a listening TCP server has an AddressInfo.
  const { port } = other.address() as AddressInfo
  const run = runProgram({ folder, env: { [name]: String(port) } })
  expect([await run.ended, run.stdout]).toEqual([1, ''])
  expect(run.stderr).toBe(
    `Port ${port} on 127.0.0.1 is taken by another program: stop it, or set ${name} to another one.\n`,
  )
  expect(readdirSync(folder)).toEqual([])
})
