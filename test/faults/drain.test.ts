import { existsSync, readFileSync, statSync } from 'node:fs'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { maxStopTime } from '../../engine/service/serve/serve.ts'
import { logLinesIn } from '../../engine/test/support/log-lines.ts'
import { type Run, runCommand, stopService, waitForOutput, whenListening } from '../../engine/test/support/process.ts'
import { openSocket } from '../../engine/test/support/raw-http.ts'
import { connectRestClient } from '../../engine/test/support/rest-client.ts'
import { stubbornClients } from '../../engine/test/support/stubborn-clients.ts'
import { temporaryFolder } from '../../engine/test/support/temporary.ts'
import { canTrace, hangingDisk } from '../../engine/test/support/traced.ts'
import { largestFile } from '../support/built-console.ts'
import { createInTwoParts, createRequest, startTraced, startWithKey, storedTexts } from '../support/petstore.ts'

const loadShedding = new URL('../../engine/service/http/load-shedding.ts', import.meta.url)

/** Starts the service after a module with this text. It takes no request for one that has waited too long, as on a busy machine. */
function start(text = '') {
  const module = `import { processLoad } from '${loadShedding}'
    processLoad.now = () => 0
    ${text}`
  return startWithKey({ NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(module)}` })
}

/** Milliseconds from the line "stopping" to the removal of the write-ahead log, which a pause of the test does not change. */
function stopTimeOf({ stdout }: Run, folder: string): number {
  const stopping = logLinesIn(stdout).find(({ msg }) => msg === 'stopping')
  return statSync(join(folder, 'data')).mtimeMs - Date.parse(String(stopping?.time))
}

test.for([
  ['SIGTERM', 'of a process manager'],
  ['SIGHUP', 'of a terminal that is closed'],
  ['SIGQUIT', 'of a person'],
] as const)(
  '%s, %s, completes fifty requests in progress, ends their connections and idle ones, and exits with 0',
  async ([signal]) => {
    const { server, key, folder } = await start()
    await Promise.all(Array.from({ length: 10 }, () => openSocket(server.url)))
    const agent = new Agent({ keepAlive: true, maxSockets: 50 })
    onTestFinished(() => agent.destroy())
    const creates = Array.from({ length: 50 }, (_, i) => createInTwoParts(server.url, key, agent, `pet ${i}`))
    await Promise.all(creates.map(({ begun }) => begun))

    server.child.kill(signal)
    await waitForOutput(server, new RegExp(`"signal":"${signal}".*"(stopping)"`))
    for (const { finish } of creates) finish()
    const responses = await Promise.all(creates.map(({ response }) => response))

    expect(responses.map(({ status, connection }) => [status, connection])).toEqual(Array(50).fill([201, 'close']))
    const responded = performance.now()
    expect(await server.ended).toBe(0)
    // Before all connections would be closed.
    expect(performance.now() - responded).toBeLessThan(maxStopTime - 1_000)
    expect(storedTexts(folder)).toEqual(responses.map(({ name }) => name).toSorted())
  },
)

describe('SIGTERM', () => {
  test('accepts requests while it drains, responds 503 on /readyz, and leaves an empty write-ahead log', async () => {
    // A busy machine may have no time for a request in half a second.
    const { server, key, folder } = await start(`
      import { syncBuiltinESMExports } from 'node:module'
      import timers from 'node:timers/promises'
      const wait = timers.setTimeout
      timers.setTimeout = (time, ...rest) => wait(time === 500 ? 5000 : time, ...rest)
      syncBuiltinESMExports()`)
    const headers = { authorization: `Bearer ${key}` }
    server.child.kill('SIGTERM')
    const paths = ['/readyz', '/v1/pets', '/livez']
    const send = () => Promise.all(paths.map((path) => fetch(`${server.url}${path}`, { headers })))
    const seen = async () => (await send()).map((response) => [response.status, response.headers.get('connection')])
    const draining = [503, 200, 200].map((status) => [status, 'close'])
    await expect.poll(seen, { interval: 5 }).toEqual(draining)
    expect(await server.ended).toBe(0)
    expect(storedTexts(folder)).toEqual([])
    await expect(fetch(`${server.url}/livez`)).rejects.toThrow()
  })

  test('stops the service also through npm start', async () => {
    const env = { DATABASE_URL: `file:${join(temporaryFolder(), 'petstore.db')}` }
    const root = join(import.meta.dirname, '../..')
    const server = await whenListening(runCommand(['npm', 'start', '--no-update-notifier'], { folder: root, env }))
    await stopService(server)
    await expect(fetch(`${server.url}/livez`)).rejects.toThrow()
  })

  test('ends the process at once if it is sent twice', async () => {
    const { server, key } = await start()
    const { begun } = createInTwoParts(server.url, key, new Agent(), 'never finished')
    await begun
    server.child.kill('SIGTERM')
    await waitForOutput(server, /"(stopping)"/)
    await wait(250)
    server.child.kill('SIGTERM')
    expect(await server.ended).toBe('SIGKILL')
    expect(server.stdout).toContain('stopped by force')
  })
})

// strace delays the system calls of the disk.
if (canTrace()) {
  test('a second SIGTERM ends the process at once also while the disk does not respond', async () => {
    const { rest, processId } = await startTraced(hangingDisk)
    const send = () => rest.post('/v1/pets', { name: 'Rex', categoryId: 1 })
    void Promise.allSettled(Array.from({ length: 10 }, send))
    await wait(500)
    process.kill(processId, 'SIGTERM')
    await wait(250)
    expect(isAlive(processId)).toBe(true)
    process.kill(processId, 'SIGTERM')
    await expect.poll(() => isAlive(processId)).toBe(false)
  })
}

test('SIGINT, from a person, stops the service without the half second of draining', async () => {
  const stopTime = async (signal: NodeJS.Signals) => {
    const { server, folder } = await start()
    server.child.kill(signal)
    expect(await server.ended).toBe(0)
    return stopTimeOf(server, folder)
  }
  const terminated = await stopTime('SIGTERM')
  const interrupted = []
  for (let round = 0; round < 3; round++) interrupted.push(await stopTime('SIGINT'))
  // The time of a file may be a few milliseconds old.
  expect(terminated).toBeGreaterThan(480)
  expect(Math.min(...interrupted)).toBeLessThan(terminated)
})

test('two SIGINT in quick succession count as one, because npm forwards the signal that the terminal also sends to the service', async () => {
  // The service sends the second one to itself, because the test may be late, and the kernel delivers two that wait as one.
  const repeated = `process.once('SIGINT', () => process.kill(process.pid, 'SIGINT'))`
  const { server, key } = await start(repeated)
  const { begun, response, finish } = createInTwoParts(server.url, key, new Agent(), 'Rex')
  await begun
  server.child.kill('SIGINT')
  await waitForOutput(server, /"(stopping)"/)
  finish()
  expect((await response).status).toBe(201)
  expect(await server.ended).toBe(0)
})

test.for(['SIGUSR1', 'SIGUSR2'] as const)(
  '%s, of a program that rotates logs, is ignored and logged',
  async (signal) => {
    const { server, key } = await start()
    server.child.kill(signal)
    await waitForOutput(server, new RegExp(`(${signal}) was ignored`))
    expect((await connectRestClient(server.url, key).post('/v1/pets', { name: 'Rex', categoryId: 1 })).status).toBe(201)
    expect(server.stderr).not.toContain('Debugger')
  },
)

test('a late stop does not wait for clients that neither write nor read', async () => {
  const { server, folder } = await start()
  const clients = stubbornClients(server.url, '', largestFile, createRequest).filter(
    ({ name }) => !name.includes('half a body'),
  )
  for (const { open } of clients) await open()
  await wait(500)
  await stopService(server)
  // Before the connections of writes would be closed.
  expect(stopTimeOf(server, folder)).toBeLessThan(maxStopTime - 1_000)
})

/** A process that strace has not released is a zombie. */
function isAlive(processId: number): boolean {
  const stat = `/proc/${processId}/stat`
  return existsSync(stat) && !/\) [ZX] /.test(readFileSync(stat, 'utf8'))
}
