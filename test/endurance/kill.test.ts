import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { isLongForm, report, showProgress } from '../support/long-form.ts'
import { createFirstKey, runPetstore } from '../support/process.ts'
import { connectRestClient, type RestClient } from '../support/rest-client.ts'
import { temporaryFolder } from '../support/temporary.ts'

const kills = isLongForm ? 50 : 20
const writers = 16

test(`after ${kills} kills during creates that clients retry until they succeed, each pet is stored exactly once`, async () => {
  const folder = temporaryFolder()
  const [key, port] = [await createFirstKey(folder), await freePort()]
  const url = `http://127.0.0.1:${port}`
  const load = startWriters(url, key)
  const startTimes: number[] = []
  for (let round = 0; round < kills; round++) {
    const { server, milliseconds } = await startUntilReady(folder, port)
    startTimes.push(milliseconds)
    const enough = load.acknowledged.length + 60 + round * 7
    while (load.acknowledged.length < enough) await wait(1)
    server.child.kill('SIGKILL')
    await server.ended
    showProgress(`killed ${round + 1} times, ${load.acknowledged.length} pets acknowledged`)
  }
  await startUntilReady(folder, port)
  await load.stop()

  const database = new Database(join(folder, 'data/petstore.db'))
  onTestFinished(() => void database.close())
  const count = (query: string) => database.prepare(`SELECT count(*) FROM ${query}`).pluck().get()
  const stored = database.prepare('SELECT name FROM pets').pluck().all()
  expect(stored.toSorted()).toEqual(load.acknowledged.toSorted())
  expect(count('idempotency_keys')).toBe(stored.length)
  expect(count("idempotency_keys JOIN pets ON pets.id = result ->> 'id' AND pets.name = key")).toBe(stored.length)
  expect(database.pragma('integrity_check', { simple: true })).toBe('ok')
  expect(load.replayed).toBeGreaterThan(0)
  const [median, longest] = [startTimes.toSorted((a, b) => a - b)[kills / 2], Math.max(...startTimes)]
  expect(median).toBeLessThan(20_000)
  report('SIGKILL under 16 writers', { kills, pets: stored.length, replayed: load.replayed, median, longest })
}, 600_000)

/** Measures the milliseconds from the start of the process until /readyz responds 200. */
async function startUntilReady(folder: string, port: number) {
  const start = performance.now()
  const server = runPetstore({ folder, env: { PORT: String(port), LOG_LEVEL: 'error' } })
  for (;;) {
    const response = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined)
    if (response?.status === 200) return { server, milliseconds: Math.round(performance.now() - start) }
    if (server.child.exitCode !== null) throw new Error(server.stderr)
    await wait(10)
  }
}

/** Sixteen callers. Each retries a create, with the pet's name as its idempotency key, until it is acknowledged. */
function startWriters(url: string, key: string) {
  const acknowledged: string[] = []
  const load = { acknowledged, replayed: 0, stop }
  let isStopping = false

  async function create(caller: RestClient, name: string): Promise<void> {
    for (;;) {
      const response = await caller
        .post('/v1/pets', { name, categoryId: 1 }, { 'idempotency-key': name })
        .catch(() => undefined)
      if (response?.headers['idempotency-replayed']) load.replayed++
      if (response?.status === 201) return void load.acknowledged.push(name)
      if (response && response.status !== 503) throw new Error(`${response.status} ${response.text}`)
      await wait(20)
    }
  }
  async function write(writer: number): Promise<void> {
    const caller = connectRestClient(url, key)
    for (let i = 0; !isStopping; i++) await create(caller, `${writer}-${i}`)
  }
  const all = Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)))

  async function stop(): Promise<void> {
    isStopping = true
    await all
  }
  return load
}
