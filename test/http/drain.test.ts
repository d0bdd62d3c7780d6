import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test } from 'vitest'
import { Caller } from '../support/caller.ts'
import { bannerKey, runCommand, startServer, waitForOutput, whenListening } from '../support/process.ts'
import { openSocket } from '../support/raw-http.ts'
import { temporaryFolder } from '../support/temporary.ts'
import { canTrace, hangingDisk, startTraced } from '../support/traced.ts'

describe('SIGTERM', () => {
  test('lets fifty requests under way finish, each ending its connection, and exits with 0', async () => {
    const { server, key, folder } = await start()
    const agent = new Agent({ keepAlive: true, maxSockets: 50 })
    onTestFinished(() => agent.destroy())
    const creations = Array.from({ length: 50 }, (_, i) => createInTwoParts(server.url, key, agent, `pet ${i}`))
    await Promise.all(creations.map(({ begun }) => begun))
    await wait(100)

    server.child.kill('SIGTERM')
    await wait(100)
    for (const { finish } of creations) finish()
    const answers = await Promise.all(creations.map(({ answer }) => answer))

    expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(201))
    expect(new Set(answers.map(({ connection }) => connection))).toEqual(new Set(['close']))
    const answered = performance.now()
    expect(await server.ended).toBe(0)
    expect(performance.now() - answered).toBeLessThan(2_000)
    expect(stored(folder)).toEqual(answers.map(({ name }) => name).toSorted())
  })

  test('takes new requests while it drains, says that it is not ready, and leaves nothing in the log to replay', async () => {
    const { server, key, folder } = await start()
    const headers = { authorization: `Bearer ${key}` }
    server.child.kill('SIGTERM')
    await expect.poll(async () => (await fetch(`${server.url}/readyz`)).status, { interval: 5 }).toBe(503)
    const answer = await fetch(`${server.url}/v1/pets`, { headers })
    expect([answer.status, answer.headers.get('connection')]).toEqual([200, 'close'])
    expect((await fetch(`${server.url}/livez`)).status).toBe(200)
    expect(await server.ended).toBe(0)
    expect(stored(folder)).toEqual([])
    await expect(fetch(`${server.url}/livez`)).rejects.toThrow()
  })

  test('reaches the service also through npm start', async () => {
    const env = { PORT: '0', DATABASE_URL: `file:${join(temporaryFolder(), 'petstore.db')}` }
    const root = join(import.meta.dirname, '../..')
    const server = await whenListening(runCommand(['npm', 'start', '--no-update-notifier'], { folder: root, env }))
    server.child.kill('SIGTERM')
    expect(await server.ended).toBe(0)
    await expect(fetch(`${server.url}/livez`)).rejects.toThrow()
  })

  test('does not wait for connections that ask nothing', async () => {
    const { server } = await start()
    await Promise.all(Array.from({ length: 10 }, () => openSocket(server.url)))
    const asked = performance.now()
    server.child.kill('SIGTERM')
    expect(await server.ended).toBe(0)
    expect(performance.now() - asked).toBeLessThan(3_000)
  })

  test('gives a body that never comes ten seconds, and what waits for it is not stored', async () => {
    const { server, key, folder } = await start()
    await createInTwoParts(server.url, key, new Agent(), 'never finished').begun
    await wait(100)
    const asked = performance.now()
    server.child.kill('SIGTERM')
    expect(await server.ended).toBe(0)
    expect(performance.now() - asked).toBeLessThan(11_000)
    expect(stored(folder)).toEqual([])
  })

  test('a second one ends the process at once', async () => {
    const { server, key } = await start()
    const { begun } = createInTwoParts(server.url, key, new Agent(), 'never finished')
    await begun
    await wait(100)
    server.child.kill('SIGTERM')
    await waitForOutput(server, /"(stopping)"/)
    await wait(250)
    server.child.kill('SIGTERM')
    expect(await server.ended).toBe('SIGKILL')
    expect(server.stdout).toContain('stopped by force')
  })
})

// Only from outside can a disk be made to hang.
if (canTrace()) {
  test('a second SIGTERM ends the process at once also while the disk hangs', async () => {
    const { server, key, processId } = await startTraced(hangingDisk)
    const caller = new Caller(server.url, key)
    const send = () => caller.post('/v1/pets', { name: 'Rex', categoryId: 1 })
    void Promise.allSettled(Array.from({ length: 10 }, send))
    await wait(500)
    process.kill(processId, 'SIGTERM')
    await wait(250)
    expect(isAlive(processId)).toBe(true)
    process.kill(processId, 'SIGTERM')
    await expect.poll(() => isAlive(processId), { timeout: 2_000 }).toBe(false)
  })
}

test('SIGINT, which comes from a person, stops without a wait for others', async () => {
  const { server } = await start()
  const asked = performance.now()
  server.child.kill('SIGINT')
  expect(await server.ended).toBe(0)
  expect(performance.now() - asked).toBeLessThan(450)
})

test('SIGINT twice at once is one: npm passes on what the terminal has sent to both', async () => {
  const { server, key } = await start()
  const { begun, answer, finish } = createInTwoParts(server.url, key, new Agent(), 'Rex')
  await begun
  await wait(100)
  server.child.kill('SIGINT')
  await waitForOutput(server, /"(stopping)"/)
  server.child.kill('SIGINT')
  finish()
  expect((await answer).status).toBe(201)
  expect(await server.ended).toBe(0)
})

/** What strace has not let go yet is a zombie. */
function isAlive(processId: number): boolean {
  const stat = `/proc/${processId}/stat`
  return existsSync(stat) && !/\) [ZX] /.test(readFileSync(stat, 'utf8'))
}

async function start() {
  const folder = temporaryFolder()
  const server = await startServer({ folder })
  return { server, folder, key: await waitForOutput(server, bannerKey) }
}

/** A POST whose body is held back until `finish` is called. */
function createInTwoParts(url: string, key: string, agent: Agent, name: string) {
  const body = JSON.stringify({ name, categoryId: 1 })
  const sent = request(`${url}/v1/pets`, {
    method: 'POST',
    agent,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'content-length': body.length },
  })
  sent.on('error', () => {})
  onTestFinished(() => void sent.destroy())
  const begun = new Promise<void>((resolve) => sent.write(body.slice(0, 5), () => resolve()))
  const answer = once(sent, 'response').then(([response]) => {
    response.resume()
    return { name, status: response.statusCode, connection: response.headers.connection }
  })
  answer.catch(() => {})
  return { begun, answer, finish: () => void sent.end(body.slice(5)) }
}

/** What a stopped service has left, all of it in the one file. */
function stored(folder: string): unknown[] {
  const database = new Database(join(folder, 'data/petstore.db'), { readonly: true })
  onTestFinished(() => void database.close())
  return database.prepare('SELECT name FROM pets ORDER BY name').pluck().all()
}
