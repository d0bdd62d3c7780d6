import { execFileSync, spawnSync } from 'node:child_process'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { type Run, runCommand, stopService, waitForOutput, whenListening } from '../../engine/test/support/process.ts'
import { openSocket } from '../../engine/test/support/raw-http.ts'
import { connectRestClient, type RestClient } from '../../engine/test/support/rest-client.ts'
import { temporaryFolder } from '../../engine/test/support/temporary.ts'
import { bannerKey, commandLine, startWithKey } from '../support/petstore.ts'

/** The process runs out of file descriptors. */

// Windows has no such limit.
if (process.platform !== 'win32') {
  test('with 1,024 file descriptors the service keeps serving during a flood of idle connections', async () => {
    const folder = temporaryFolder()
    const command = ['sh', '-c', `ulimit -n 1024; exec "$@"`, 'sh', ...commandLine]
    const server = await whenListening(runCommand(command, { folder }))
    const key = await waitForOutput(server, bannerKey)
    const isFlooding = new AbortController()
    onTestFinished(() => isFlooding.abort())
    const flood = openUntil(server.url, isFlooding.signal)
    await expect.poll(() => flood.count()).toBeGreaterThan(1_100)

    const client = connectRestClient(server.url, key, { keepAlive: false })
    for (const end = performance.now() + 2_000; performance.now() < end; await wait(20)) {
      const created = await client.post('/v1/pets', { name: 'Rex', categoryId: 1 })
      expect(created.status).toBe(201)
      expect((await client.get(String(created.headers.location))).status).toBe(200)
      expect((await client.get('/livez')).status).toBe(200)
    }
    isFlooding.abort()
    await flood.ended
    expect((await client.get('/readyz')).status).toBe(200)
    expect(server.stderr).toBe('')
    await stopService(server)
  })
}

if (spawnSync('prlimit', ['--version']).status === 0) {
  test('the process survives without a free file descriptor, and serves again when descriptors are free', async () => {
    const { server, rest: client } = await startWithKey({ BACKUP_EVERY: '1s' })
    // The service would close an idle connection after 5 s, and cannot accept another one without a descriptor.
    const reading = new AbortController()
    onTestFinished(() => reading.abort())
    const statuses = readUntil(client, reading.signal)
    await waitForOutput(server, /("database.backup")/)
    limitDescriptors(server, 0)
    await waitForOutput(server, /(The scheduled backup failed)/)
    await wait(2_500)
    reading.abort()
    expect(new Set(await statuses)).toEqual(new Set([200]))
    limitDescriptors(server, 1_024)
    expect((await fetch(`${server.url}/livez`)).status).toBe(200)
    expect((await client.post('/v1/pets', { name: 'Rex', categoryId: 1 })).status).toBe(201)
    server.stdout = ''
    await waitForOutput(server, /("database.backup")/)
    expect(server.stderr).toBe('')
  })
}

/** Limits how many descriptors the process may have. It keeps those above the limit, but gets no new one. */
function limitDescriptors({ child }: Run, count: number): void {
  execFileSync('prlimit', ['--pid', String(child.pid), `--nofile=${count}:`])
}

/** Reads every 100 ms until the signal is aborted. Resolves to the status codes, of which there is at least one. */
async function readUntil(client: RestClient, signal: AbortSignal): Promise<number[]> {
  const statuses = []
  do {
    statuses.push((await client.get('/v1/pets')).status)
    await wait(100)
  } while (!signal.aborted)
  return statuses
}

/** Opens connections, 50 at a time, until the signal is aborted, and then closes them. */
function openUntil(url: string, signal: AbortSignal) {
  let opened = 0
  async function run(): Promise<void> {
    const sockets = []
    while (!signal.aborted) {
      sockets.push(...(await Promise.all(Array.from({ length: 50 }, () => openSocket(url)))))
      opened = sockets.length
      await wait(50)
    }
    for (const socket of sockets) socket.destroy()
  }
  return { count: () => opened, ended: run() }
}
