import { setTimeout as wait } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { Caller } from '../support/caller.ts'
import { report } from '../support/long-form.ts'
import { bannerKey, type Server, waitForOutput } from '../support/process.ts'
import { canMount, startOnSmallDisk } from '../support/small-disk.ts'

// Only a real disk can be really full. Where none can be mounted, durability.test.ts still limits the pages of the file.
if (canMount()) {
  test('a disk that fills up under load: what is acknowledged is stored and nothing else is, and it recovers by itself', async () => {
    const { server, copyDatabase, makeRoom } = await startOnSmallDisk()
    const key = await waitForOutput(server, bannerKey)
    const load = startLoad(server, key)
    await expect.poll(() => load.answers.get(503) ?? 0, { timeout: 20_000 }).toBeGreaterThan(100)
    expect((await fetch(`${server.url}/v1/pets`, { headers: headers(key) })).status).toBe(200)

    const before = load.acknowledged.length
    makeRoom()
    await expect.poll(() => load.acknowledged.length, { timeout: 5_000 }).toBeGreaterThan(before + 100)
    await load.stop()

    expect([...load.answers.keys()].toSorted()).toEqual([201, 503])
    expect(load.withoutRetryAfter).toBe(0)
    const database = new Database(copyDatabase())
    onTestFinished(() => void database.close())
    const stored = database.prepare('SELECT name FROM pets').pluck().all()
    expect(stored.toSorted()).toEqual(load.acknowledged.toSorted())
    expect(database.pragma('integrity_check', { simple: true })).toBe('ok')
    expect(server.child.exitCode).toBeNull()
    report('Disk full', {
      acknowledged: load.acknowledged.length,
      stored: stored.length,
      refused: load.answers.get(503),
    })
  }, 60_000)

  test('a disk with room for two pages, which is less than a create needs, makes the service not ready', async () => {
    const { server, fillUp, makeRoom } = await startOnSmallDisk()
    const caller = new Caller(server.url, await waitForOutput(server, bannerKey))
    const create = async () => (await caller.post('/v1/pets', { name: 'Rex', categoryId: 1 })).status
    const ready = async () => (await fetch(`${server.url}/readyz`)).status
    expect([await create(), await ready()]).toEqual([201, 200])
    fillUp(2)
    // Callers share one check a second.
    await wait(1_100)
    expect([await ready(), await create()]).toEqual([503, 503])
    makeRoom()
    expect(await create()).toBe(201)
    await expect.poll(ready, { timeout: 5_000 }).toBe(200)
  })
}

function headers(key: string) {
  return { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
}

/** Sixteen callers that create pets one after the other, and go on whatever the answer is. */
function startLoad({ url }: Server, key: string) {
  const acknowledged: string[] = []
  const answers = new Map<number, number>()
  const load = { acknowledged, answers, withoutRetryAfter: 0, stop }
  let stopped = false

  async function createOn(caller: number): Promise<void> {
    for (let i = 0; !stopped; i++) {
      const name = `${caller}-${i}`.padEnd(200, '.')
      const body = JSON.stringify({ name, categoryId: 1 })
      const answer = await fetch(`${url}/v1/pets`, { method: 'POST', headers: headers(key), body })
      await answer.arrayBuffer()
      answers.set(answer.status, (answers.get(answer.status) ?? 0) + 1)
      if (answer.status === 201) acknowledged.push(name)
      else if (answer.headers.get('retry-after') === null) load.withoutRetryAfter++
      if (answer.status !== 201) await wait(5)
    }
  }
  const callers = Promise.all(Array.from({ length: 16 }, (_, caller) => createOn(caller)))

  async function stop(): Promise<void> {
    stopped = true
    await callers
  }
  return load
}
