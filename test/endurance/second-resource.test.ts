import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { isOnPostgres } from '../../engine/test/support/database.ts'
import { freePort } from '../../engine/test/support/free-port.ts'
import { notesIn } from '../../engine/test/support/log-lines.ts'
import { runCommand, waitForOutput, whenListening } from '../../engine/test/support/process.ts'
import { connectRestClient, type RestClient } from '../../engine/test/support/rest-client.ts'
import { temporaryFolder } from '../../engine/test/support/temporary.ts'
import { openFixture } from '../fixture/service/support.ts'
import { commandLine, createKey, locationOf, ndjsonOf } from '../support/petstore.ts'

const kills = 5
const writers = 8
const fastStart = `--import=${join(import.meta.dirname, '../../engine/store/fast-start.mjs')}`
const command = [...commandLine.slice(0, -1), fastStart, join(import.meta.dirname, '../fixture/service/main.ts')]

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

test('the commands work with every resource of the program', async () => {
  const folder = temporaryFolder()
  const run = runIn(folder)
  expect(notesIn((await run('db', 'migrate')).stderr)).toMatch(/^Created the database .*\.\n$/)
  const key = await run('keys', 'create', 'shop')
  expect(key.stdout).toMatch(/^pet_\w{38}\n$/)
  expect(notesIn(key.stderr)).toBe('The key does not expire.\n')
  expect((await run('db', 'migrate')).stdout).toBe('The schema is up to date. There is nothing to migrate.\n')
  writeFileSync(join(folder, 'shelters.csv'), `name,city,capacity,isOpen,note\nNorthside,Bern,${2n ** 62n},true,\n`)
  expect((await run('shelters', 'import', 'shelters.csv')).stdout).toContain('1 shelter created')
  writeFileSync(join(folder, 'pets.ndjson'), ndjsonOf(3))
  expect((await run('pets', 'import', 'pets.ndjson')).stdout).toContain('3 pets created')
  const exported = (await run('shelters', 'export')).stdout.trimEnd().split('\n')
  expect(exported).toHaveLength(1)
  expect(withoutTime(exported[0] ?? '')).toBe(
    `{"id":1,"name":"Northside","city":"Bern","capacity":${2n ** 62n},"isOpen":true}`,
  )
  const rows = { pets: 3, shelters: 1, keys: 1 }
  expect(JSON.parse((await run('db', 'status', '--json')).stdout)).toMatchObject({ schema: '9001_shelter_times', rows })
  expect(Object.keys(JSON.parse((await run('openapi')).stdout).paths)).toContain('/shelters')
  await run('doctor')
  if (isOnPostgres) return
  const backup = (await run('backup')).stdout.trim()
  await run('restore', backup)
  expect((await run('db', 'copy', '--from', `file:${backup}`, '--to', 'file:copy.db')).stdout).toContain('shelters: 1')
})

function withoutTime(line: string): string {
  return line.replace(/,"createdAt":"[^"]*"/, '')
}

if (!isOnPostgres) {
  test('a scheduled backup has every resource of the program', async () => {
    const folder = temporaryFolder()
    const server = await whenListening(runCommand(command, { folder, env: { PORT: '0', BACKUP_EVERY: '1d' } }))
    expect(await waitForOutput(server, /"action":"(database\.backup)"/)).toBe('database.backup')
  })
}

/** Runs commands in a folder, which must succeed. */
function runIn(folder: string) {
  return async (...words: string[]) => {
    const child = runCommand([...command, ...words], { folder })
    expect(await child.ended, child.stderr).toBe(0)
    return child
  }
}

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
