import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createKey } from '../../server/ops/keys.ts'
import { openFixture } from '../fixture/support.ts'
import { locationOf } from '../support/database.ts'
import { freePort } from '../support/free-port.ts'
import { petstore, runCommand, whenListening } from '../support/process.ts'
import { connectRestClient, type RestClient } from '../support/rest-client.ts'
import { temporaryFolder } from '../support/temporary.ts'

const kills = 5
const writers = 8
const command = [...petstore.slice(0, -1), join(import.meta.dirname, '../fixture/serve.ts')]

test(`after ${kills} kills, every acknowledged shelter and rename is there, and none took effect twice`, async () => {
  const folder = temporaryFolder()
  const location = locationOf(folder)
  const first = await openFixture(location, () => {})
  const key = await createKey(first, 'test')
  await first.close()
  const port = await freePort()
  const load = startWriters(`http://127.0.0.1:${port}`, key)
  for (let round = 0; round < kills; round++) {
    const server = await startFixture(folder, port)
    const enough = load.acknowledged.size + 40
    while (load.acknowledged.size < enough) await wait(1)
    server.child.kill('SIGKILL')
    await server.ended
  }
  const last = await startFixture(folder, port)
  await load.stop()
  last.child.kill('SIGTERM')
  expect(await last.ended).toBe(0)

  const store = await openFixture(location)
  const stored = await store.shelters.list({ limit: 100_000, cursor: 0n })
  expect(new Map(stored.map(({ id, name }) => [id, name]))).toEqual(load.acknowledged)
  expect(load.wrong).toEqual([])
}, 600_000)

function startFixture(folder: string, port: number) {
  return whenListening(runCommand(command, { folder, env: { PORT: String(port), LOG_LEVEL: 'info' } }))
}

/** Each caller creates a shelter and renames it, and retries each request with its key until it is acknowledged. */
function startWriters(url: string, key: string) {
  /** The names of the shelters by their ids. */
  const acknowledged = new Map<bigint, string>()
  /** The renames that found another name than the one of the create. */
  const wrong: unknown[] = []
  let isStopping = false

  async function retry(caller: RestClient, method: 'POST' | 'PATCH', path: string, body: object, once: string) {
    const headers = { 'content-type': 'application/json', 'idempotency-key': once }
    for (;;) {
      const response = await caller
        .send({ method, url: path, headers, payload: JSON.stringify(body) })
        .catch(() => undefined)
      if (response && response.status < 300) return Object(response.body)
      if (response && response.status !== 503) throw new Error(`${response.status} ${response.text}`)
      await wait(20)
    }
  }

  async function write(writer: number): Promise<void> {
    const caller = connectRestClient(url, key)
    for (let i = 0; !isStopping; i++) {
      const name = `${writer}-${i}`
      const shelter = { name, city: 'Bern', capacity: i, isOpen: true }
      const { id } = await retry(caller, 'POST', '/v1/shelters', shelter, `create-${name}`)
      const renamed = await retry(caller, 'PATCH', `/v1/shelters/${id}`, { name: `${name} renamed` }, `rename-${name}`)
      if (renamed.previousName !== name) wrong.push(renamed)
      acknowledged.set(BigInt(id), `${name} renamed`)
    }
  }
  const all = Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)))
  return {
    acknowledged,
    wrong,
    async stop(): Promise<void> {
      isStopping = true
      await all
    },
  }
}
