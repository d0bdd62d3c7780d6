import { rmSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { connect } from '../../../db/sqlite/file/connection.ts'
import { isBusy, toFailure } from '../../../db/sqlite/file/failure.ts'
import { StoreUnavailable } from '../../../db/store.ts'
import { createKey } from '../../../server/ops/keys.ts'
import { databasePaths, spellings } from '../../support/database-paths.ts'
import {
  checkpoint,
  createPet,
  expectIntact,
  expectRecovery,
  expectUnavailable,
  listNames,
  openConnection,
  startOnFile,
  storedAfterKill,
  storedNames,
  testedSpellings,
} from '../../support/file-faults.ts'
import { createFirstKey, petstore, runCommand, startServer, waitForOutput } from '../../support/process.ts'
import { openSqlite } from '../../support/resources.ts'
import { connectRestClient } from '../../support/rest-client.ts'
import { change } from '../../support/sample-database.ts'
import { temporaryFolder } from '../../support/temporary.ts'

test.for(spellings)(
  'no acknowledged pet is lost when the write-ahead log of a database, opened through %s, is deleted',
  async ([, spell]) => {
    const { api, path } = await startOnFile(databasePaths(spell))
    for (const name of ['a', 'b', 'c']) await createPet(api, name)
    rmSync(`${path}-wal`)
    await expectUnavailable(createPet(api, 'lost'))
    expect((await createPet(api, 'd')).status).toBe(201)
    expect(await listNames(api)).toEqual({ status: 200, names: ['a', 'b', 'c', 'd'] })
    expect(storedAfterKill(path)).toEqual(['a', 'b', 'c', 'd'])
    expectIntact(path)
  },
)

describe.for(testedSpellings)('the write-ahead log of a database, opened through %s, is', ([, spell]) => {
  const start = () => startOnFile(databasePaths(spell))

  test('deleted while another process reads from it: writes fail until the log is saved', async () => {
    const { api, path } = await start()
    await createPet(api, 'a')
    const other = openConnection(path)
    other.exec('BEGIN')
    other.prepare('SELECT * FROM pets').all()
    await createPet(api, 'b')
    rmSync(`${path}-wal`)
    await expectUnavailable(createPet(api, 'lost'))
    await expectUnavailable(createPet(api, 'lost'))
    other.exec('ROLLBACK')
    await expectRecovery(api, 'c')
    expect(storedAfterKill(path)).toEqual(['a', 'b', 'c'])
  })

  test.for([0, 5_000])('truncated to %i bytes: the service continues with the pets that are left', async (size) => {
    const { api, path } = await start()
    await createPet(api, 'in the database')
    checkpoint(path)
    for (let i = 0; i < 20; i++) await createPet(api, `destroyed ${i}`)
    truncateSync(`${path}-wal`, size)
    await expectUnavailable(createPet(api, 'lost'))
    await expectRecovery(api, 'after')
    expect(await listNames(api)).toEqual({ status: 200, names: ['in the database', 'after'] })
    expect(storedAfterKill(path)).toEqual(['in the database', 'after'])
    expectIntact(path)
  })

  test('moved into the database by another process, which is not a fault', async () => {
    const { api, path } = await start()
    for (let i = 0; i < 5; i++) {
      expect((await createPet(api, `pet ${i}`)).status).toBe(201)
      checkpoint(path)
      expect((await listNames(api)).names.length).toBe(i + 1)
    }
  })
})

test('no acknowledged pet is lost when the log is truncated while a create waits for the lock of another process', async () => {
  const { api, path } = await startOnFile()
  await createPet(api, 'first')
  checkpoint(path)
  for (let round = 0; round < 3; round++) {
    await createPet(api, 'before')
    const other = openConnection(path)
    other.exec('BEGIN IMMEDIATE')
    const waiting = createPet(api, `waiting ${round}`)
    await wait(60)
    truncateSync(`${path}-wal`, 0)
    other.exec('ROLLBACK')
    other.close()
    const { status } = await waiting
    await expectRecovery(api, `after ${round}`)
    const kept = storedAfterKill(path)
    expect(kept).toContain(`after ${round}`)
    if (status === 201) expect(kept).toContain(`waiting ${round}`)
  }
})

test('a create is committed once although its log was lost meanwhile and cannot be saved at first', async () => {
  const { path, given } = databasePaths((path) => path)
  const store = openSqlite({ path: given, busyTimeout: 5_000 })
  onTestFinished(() => store.close())
  await store.pets.create(rex)
  const other = openConnection(path)
  other.exec(slowInsert)
  other.exec('BEGIN')
  other.prepare('SELECT * FROM pets').all()
  const create = store.pets.create({ ...rex, name: 'once' }).catch((error: unknown) => error)
  await expect.poll(() => isWriting(path), { interval: 5 }).toBe(true)
  rmSync(`${path}-wal`)
  await Promise.race([create, wait(3_000)])
  other.exec('ROLLBACK')
  expect(await create).toBeInstanceOf(StoreUnavailable)
  await expect.poll(() => store.pets.create({ ...rex, name: 'after' }).catch(() => undefined)).toBeDefined()
  expect(storedAfterKill(path)).toEqual(['Rex', 'once', 'after'])
})

test('the service saves its commits in a copy if another process has begun a new log meanwhile', async () => {
  const folder = temporaryFolder()
  const key = await createFirstKey(folder)
  const path = join(folder, 'data/petstore.db')
  const server = await startServer({ folder })
  const caller = connectRestClient(server.url, key)
  expect((await caller.post('/v1/pets', { name: 'of the service', categoryId: 7 })).status).toBe(201)
  for (const suffix of ['-wal', '-shm']) rmSync(path + suffix)
  const other = openConnection(path)
  other.exec("INSERT INTO pets (name, category_id, status) VALUES ('by hand', 1, 'sold')")
  const copy = await waitForOutput(server, /saved all that it acknowledged in ([^" ]+)\. To go back/)
  expect(storedNames(copy)).toEqual(['of the service'])
  await expect.poll(async () => (await caller.post('/v1/pets', { name: 'after', categoryId: 7 })).status).toBe(201)
  expect(storedNames(path)).toEqual(['by hand', 'after'])
  expectIntact(path)
})

test('the service and other processes see each other’s writes after the index of the log was deleted', async () => {
  const { api, path } = await startOnFile()
  for (let round = 0; round < 3; round++) {
    await createPet(api, `before ${round}`)
    rmSync(`${path}-shm`)
    change(path, `INSERT INTO pets (name, category_id, status) VALUES ('by hand ${round}', 1, 'sold')`)
    await expectRecovery(api, `after ${round}`)
    change(path, `UPDATE pets SET status = 'pending' WHERE name = 'by hand ${round}'`)
  }
  await expect.poll(async () => (await listNames(api)).status).toBe(200)
  const ids = openConnection(path).prepare('SELECT count(DISTINCT id) FROM pets').pluck().get()
  const kept = storedAfterKill(path)
  expect(kept).toHaveLength(Number(ids))
  for (const round of [0, 1, 2])
    expect(kept).toEqual(expect.arrayContaining([`before ${round}`, `by hand ${round}`, `after ${round}`]))
  expectIntact(path)
})

test('a key that a command revokes after the index of the log was deleted is refused', async () => {
  const { api, path, key } = await startOnFile()
  const second = await createKey(api.store, 'second')
  expect((await createPet(api, 'Rex')).status).toBe(201)
  rmSync(`${path}-shm`)
  const env = { DATABASE_URL: `file:${path}` }
  expect(await runCommand([...petstore, 'keys', 'revoke', 'test'], { env }).ended).toBe(0)
  const status = async (bearer: string) =>
    (await api.rest.get('/v1/pets', { authorization: `Bearer ${bearer}` })).status
  await expect.poll(() => status(key)).toBe(401)
  expect(await status(second)).toBe(200)
  const revoked = openConnection(path).prepare('SELECT count(*) FROM api_keys WHERE revoked_at IS NOT NULL')
  expect(revoked.pluck().get()).toBe(1n)
})

const rex = { name: 'Rex', categoryId: 7n, status: 'available' } as const

/** Makes the insert of a pet of this name take about a second. */
const slowInsert = `
  CREATE VIEW slow AS WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers LIMIT 4000000) SELECT count(*) AS n FROM numbers;
  CREATE TRIGGER slow AFTER INSERT ON pets WHEN new.name = 'once' BEGIN SELECT n FROM slow; END`

/** Whether another connection is in a write transaction. */
function isWriting(path: string): boolean {
  const connection = connect(path, { busyTimeout: 0 })
  try {
    connection.exec('BEGIN IMMEDIATE; ROLLBACK')
    return false
  } catch (error) {
    return isBusy(toFailure(error))
  } finally {
    connection.close()
  }
}
