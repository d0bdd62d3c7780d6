import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test } from 'vitest'
import { connect } from '../db/sqlite/connection.ts'
import { prepareDatabase } from '../db/sqlite/prepare.ts'
import { Writer } from '../db/sqlite/writer.ts'
import { commitTogether, prepareWrites, type Write } from '../db/sqlite/writes.ts'
import { StoreUnavailable } from '../db/store.ts'
import { openTestStore, temporaryFolder } from './helpers.ts'
import { bannerKey, runPetstore, type Server, startServer, waitForOutput } from './process.ts'

const rex = { name: 'Rex', categoryId: 7n, status: 'available' } as const

describe('what was acknowledged is there', () => {
  test('after SIGKILL, twenty times, under sixteen writers', async () => {
    const folder = temporaryFolder()
    const acknowledged: string[] = []
    const key = await firstKey(folder)
    for (let round = 0; round < 20; round++) {
      const server = await startServer({ folder })
      const writers = Array.from({ length: 16 }, (_, writer) =>
        createUntilItDies(server, key, `${round}-${writer}`, acknowledged),
      )
      const enough = acknowledged.length + 60 + round * 7
      while (acknowledged.length < enough) await wait(1)
      server.child.kill('SIGKILL')
      await Promise.all(writers)
      await server.ended
    }
    const database = new Database(join(folder, 'data/petstore.db'))
    onTestFinished(() => void database.close())
    const stored = database.prepare('SELECT name FROM pets').pluck().all() as string[]
    expect(acknowledged.length).toBeGreaterThan(1_000)
    expect(new Set(stored).size).toBe(stored.length)
    expect(new Set(acknowledged).difference(new Set(stored))).toEqual(new Set())
    expect(database.pragma('integrity_check', { simple: true })).toBe('ok')
  }, 90_000)

  test.runIf(hasStrace())('on disk before it was acknowledged, and many share one fsync', async () => {
    const folder = temporaryFolder()
    const key = await firstKey(folder)
    const server = await startServer({ folder })
    const trace = await traceSystemCalls(server)
    for (let i = 0; i < 10; i++) await create(server, key, `one by one ${i}`)
    const alone = await trace.stop()
    expect(acknowledgementsWithoutSync(alone)).toEqual([])
    expect(alone.filter((line) => line.includes('201 Created'))).toHaveLength(10)

    const again = await traceSystemCalls(server)
    await Promise.all(Array.from({ length: 200 }, (_, i) => create(server, key, `together ${i}`)))
    const together = await again.stop()
    expect(together.filter(isSync).length).toBeLessThan(200)
    expect(together.filter(isSync).length).toBeGreaterThan(0)
  })

  test('the connection that writes waits for the disk at each commit', () => {
    const { connection } = openWriter()
    expect(connection.pragma('synchronous', { simple: true })).toBe(2n)
    expect(connection.pragma('journal_mode', { simple: true })).toBe('wal')
  })
})

describe('writes that share a transaction', () => {
  test('are answered in order', () => {
    const { connection, writes } = openWriter()
    const batch = ['a', 'b', 'c'].map((name) => createPet(name))
    expect(commitTogether(connection, writes, batch)).toMatchObject([
      { value: { id: 1n, name: 'a' } },
      { value: { id: 2n, name: 'b' } },
      { value: { id: 3n, name: 'c' } },
    ])
  })

  test('one that breaks a rule fails alone', () => {
    const { connection, writes } = openWriter()
    const outcomes = commitTogether(connection, writes, [createPet('a'), createPet(''), createPet('c')])
    expect(outcomes).toMatchObject([
      { value: { name: 'a' } },
      { failure: { code: 'SQLITE_CONSTRAINT_CHECK' } },
      { value: { name: 'c' } },
    ])
    expect(namesIn(connection)).toEqual(['a', 'c'])
  })

  test('one of several statements that breaks a rule is undone as a whole', async () => {
    const { connection, writes } = openWriter()
    const key = (name: string, hash: string) => ({
      name,
      start: 'pet_',
      hash: hash.repeat(64),
      createdAt: new Date(),
      expiresAt: null,
    })
    commitTogether(connection, writes, [
      { name: 'createApiKey', args: [key('first', 'a')] },
      { name: 'createApiKey', args: [key('second', 'b')] },
    ])
    const outcomes = commitTogether(connection, writes, [{ name: 'rotateApiKey', args: [1n, key('second', 'c')] }])
    expect(outcomes).toMatchObject([{ failure: { code: 'SQLITE_CONSTRAINT_UNIQUE' } }])
    expect(connection.prepare('SELECT count(*) FROM api_keys WHERE revoked_at IS NULL').pluck().get()).toBe(2n)
  })

  test('fail together when the disk is full, and nothing of them is stored', () => {
    const { connection, writes } = openWriter()
    const pages = connection.pragma('page_count', { simple: true })
    connection.pragma(`max_page_count = ${pages}`)
    const outcomes = commitTogether(
      connection,
      writes,
      Array.from({ length: 500 }, (_, i) => createPet(`pet ${i}`.padEnd(200, '.'))),
    )
    expect(new Set(outcomes.map((outcome) => 'failure' in outcome && outcome.failure.code))).toEqual(
      new Set(['SQLITE_FULL']),
    )
    expect(namesIn(connection)).toEqual([])
  })

  test('fail together while another process holds the lock, and succeed when it lets go', async () => {
    const path = join(temporaryFolder(), 'petstore.db')
    const store = openTestStore(path)
    const other = connect(path, { busyTimeout: 0 })
    onTestFinished(() => void other.close())
    other.exec('BEGIN IMMEDIATE')
    const failed = await Promise.allSettled([store.pets.create(rex), store.pets.create(rex)])
    expect(failed.map((each) => each.status === 'rejected' && each.reason)).toEqual([
      expect.any(StoreUnavailable),
      expect.any(StoreUnavailable),
    ])
    expect(await store.pets.list({ limit: 1, cursor: 0n })).toEqual([])
    other.exec('ROLLBACK')
    expect(await store.pets.create(rex)).toMatchObject({ id: 1n })
  })
})

test('writes under way when the store closes are completed, and later ones are refused', async () => {
  const path = join(temporaryFolder(), 'petstore.db')
  const store = openTestStore(path)
  const creations = Array.from({ length: 100 }, () => store.pets.create(rex))
  await store.close()
  expect((await Promise.allSettled(creations)).every(({ status }) => status === 'fulfilled')).toBe(true)
  await expect(store.pets.create(rex)).rejects.toThrow(StoreUnavailable)
  const database = new Database(path)
  onTestFinished(() => void database.close())
  expect(database.prepare('SELECT count(*) FROM pets').pluck().get()).toBe(100)
})

test('a writer thread that ends fails the writes it held, and the next write starts another', async () => {
  const path = join(temporaryFolder(), 'petstore.db')
  const writer = new Writer({ path, busyTimeout: 0 })
  onTestFinished(() => writer.close())
  await expect(writer.run('createPet', rex)).rejects.toThrow(StoreUnavailable)
  prepareDatabase(path)
  expect(await writer.run('createPet', rex)).toMatchObject({ id: 1n })
})

function openWriter() {
  const path = join(temporaryFolder(), 'petstore.db')
  openTestStore(path)
  const connection = connect(path, { busyTimeout: 0 })
  onTestFinished(() => void connection.close())
  return { connection, writes: prepareWrites(connection) }
}

function createPet(name: string): Write {
  return { name: 'createPet', args: [{ ...rex, name }] }
}

function namesIn(connection: Database.Database): unknown[] {
  return connection.prepare('SELECT name FROM pets ORDER BY id').pluck().all()
}

async function firstKey(folder: string): Promise<string> {
  const run = runPetstore({ folder, arguments: ['keys', 'create', 'test'] })
  return waitForOutput(run, bannerKey)
}

async function create({ url }: Server, key: string, name: string): Promise<Response> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  return fetch(`${url}/v1/pets`, { method: 'POST', headers, body: JSON.stringify({ name, categoryId: 1 }) })
}

/** Notes the name of each pet that is acknowledged, until the server dies. */
async function createUntilItDies(server: Server, key: string, writer: string, acknowledged: string[]): Promise<void> {
  for (let i = 0; ; i++) {
    const name = `${writer}-${i}`
    const answer = await create(server, key, name).catch(() => undefined)
    if (!answer) return
    if (answer.status === 201) acknowledged.push(name)
  }
}

function hasStrace(): boolean {
  try {
    execFileSync('strace', ['-V'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Follows what every thread of the server asks of the disk and of the network, in order. */
async function traceSystemCalls({ child }: Server): Promise<{ stop: () => Promise<string[]> }> {
  const path = join(temporaryFolder(), 'trace')
  const calls = 'trace=fsync,fdatasync,write,writev,sendto,sendmsg'
  const strace = spawn('strace', ['-f', '-s', '64', '-e', calls, '-o', path, '-p', String(child.pid)], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const ended = once(strace, 'close')
  await once(strace.stderr, 'data')
  return {
    async stop() {
      strace.kill('SIGINT')
      await ended
      return readFileSync(path, 'utf8').split('\n')
    },
  }
}

function isSync(line: string): boolean {
  return /\bf(data)?sync(\(| resumed).*= 0$/.test(line)
}

/** The acknowledgements that no completed sync stands before since the one before them. */
function acknowledgementsWithoutSync(calls: string[]): string[] {
  let synced = false
  return calls.filter((line) => {
    if (isSync(line)) synced = true
    if (!line.includes('201 Created')) return false
    const isTooEarly = !synced
    synced = false
    return isTooEarly
  })
}
