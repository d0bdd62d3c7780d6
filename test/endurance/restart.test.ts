import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { isLongForm, report, showProgress } from '../support/long-form.ts'
import { bannerKey, type Server, startServer, waitForOutput } from '../support/process.ts'
import { connectRestClient, type RestClient, type RestResponse } from '../support/rest-client.ts'
import { temporaryFolder } from '../support/temporary.ts'

const restarts = isLongForm ? 5 : 2
const requestsBetween = isLongForm ? 20_000 : 2_000
const callers = 16

// Only Linux distributes the connections to a port among several processes.
if (process.platform === 'linux') {
  test(`no request fails while ${restarts} successors take over the port under load`, async () => {
    const folder = temporaryFolder()
    const env = { PORT: String(await freePort()), REUSE_PORT: 'true' }
    let server = await startServer({ folder, env })
    const load = startLoad(server, await waitForOutput(server, bannerKey))

    for (let round = 1; round <= restarts; round++) {
      await load.reach(round * requestsBetween)
      const successor = await startServer({ folder, env })
      server.child.kill('SIGTERM')
      expect(await server.ended).toBe(0)
      server = successor
      showProgress(`${round} restarts, ${load.requests} requests, ${load.failures.length} failed`)
    }
    await load.reach((restarts + 1) * requestsBetween)
    await load.stop()

    expect(load.failures).toEqual([])
    const database = new Database(join(folder, 'data/petstore.db'))
    onTestFinished(() => void database.close())
    const stored = database.prepare('SELECT name FROM pets').pluck().all()
    expect(stored.toSorted()).toEqual(load.acknowledged.toSorted())
    report('Rolling restarts', {
      restarts,
      requests: load.requests,
      pets: stored.length,
      failed: load.failures.length,
    })
  }, 600_000)
}

/** Callers that create, get and list without a pause. Every fourth opens a connection for each request. */
function startLoad({ url }: Server, key: string) {
  const failures: string[] = []
  const acknowledged: string[] = []
  const load = { requests: 0, failures, acknowledged, reach, stop }
  let isStopping = false

  async function call(caller: RestClient, name: string): Promise<void> {
    const created = await caller.post('/v1/pets', { name, categoryId: 1 })
    if (expectStatus(created, 201)) load.acknowledged.push(name)
    expectStatus(await caller.get(String(created.headers.location)), 200)
    expectStatus(await caller.get('/v1/pets?limit=5'), 200)
  }
  function expectStatus({ status, text }: RestResponse, expected: number): boolean {
    load.requests++
    if (status !== expected) load.failures.push(`${status} ${text}`)
    return status === expected
  }
  async function run(index: number): Promise<void> {
    const caller = connectRestClient(url, key, { keepAlive: index % 4 !== 0 })
    for (let i = 0; !isStopping; i++) {
      await call(caller, `${index}-${i}`).catch((error: Error) => load.failures.push(`${error}`))
    }
  }
  const all = Promise.all(Array.from({ length: callers }, (_, index) => run(index)))

  async function reach(requests: number): Promise<void> {
    await expect.poll(() => load.requests, { timeout: 300_000, interval: 20 }).toBeGreaterThan(requests)
  }
  async function stop(): Promise<void> {
    isStopping = true
    await all
  }
  return load
}
