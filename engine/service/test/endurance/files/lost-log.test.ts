import { rmSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { StoreUnavailable } from '../../../../store/collection/errors.ts'
import { commandLine, createKey, openSqlite, startWithKey } from '../../../../test/notes/fixtures.ts'
import { databasePaths } from '../../../../test/support/database-paths.ts'
import { runCommand } from '../../../../test/support/process.ts'
import {
  checkpoint,
  createNote,
  expectIntact,
  expectStopped,
  expectUnavailable,
  listBodies,
  openConnection,
  rescuedCopies,
  startOnFile,
  storedBodies,
} from '../file-faults.ts'

describe('the write-ahead log is', () => {
  test('deleted while another process reads from it: a copy has what the database lacks', async () => {
    const { api, path, damage } = await startOnFile()
    await createNote(api, 'a')
    const other = openConnection(path)
    other.exec('BEGIN')
    other.prepare('SELECT * FROM notes').all()
    await createNote(api, 'b')
    rmSync(`${path}-wal`)
    await expectUnavailable(createNote(api, 'lost'))
    await expectStopped(api)
    const sentence = await damage
    const [copy = ''] = rescuedCopies(path)
    expect(sentence).toContain(`is saved in ${copy}: restore`)
    expect(storedBodies(copy)).toEqual(['a', 'b'])
  })

  test('moved into the database by another process, which is not a fault', async () => {
    const { api, path } = await startOnFile()
    for (let i = 0; i < 5; i++) {
      expect((await createNote(api, `note ${i}`)).status).toBe(201)
      checkpoint(path)
      expect((await listBodies(api)).bodies.length).toBe(i + 1)
    }
  })
})

test('no acknowledged note is lost when the log is truncated while a create waits for the lock of another process', async () => {
  const { api, path, damage } = await startOnFile()
  await createNote(api, 'first')
  checkpoint(path)
  await createNote(api, 'only in the log')
  const other = openConnection(path)
  other.exec('BEGIN IMMEDIATE')
  const waiting = createNote(api, 'waiting')
  await wait(60)
  truncateSync(`${path}-wal`, 0)
  other.exec('ROLLBACK')
  other.close()
  await expectUnavailable(waiting)
  await damage
  await api.store.close()
  expect(storedBodies(path)).toEqual(['first'])
  expectIntact(path)
})

test('a create whose log was lost meanwhile is committed at most once', async () => {
  const { path, given } = databasePaths((path) => path)
  const { promise: damage, resolve: onDamage } = Promise.withResolvers<string>()
  const store = openSqlite({ path: given, onDamage })
  onTestFinished(() => store.close())
  await store.notes.create(ann)
  const other = openConnection(path)
  other.exec(slowInsert)
  const create = store.notes.create({ ...ann, body: 'once' }).catch((error: unknown) => error)
  await wait(0)
  // More than the cache holds, so the transaction writes to the log before its commit. On a busy machine, a timer of the event
  // loop could come after the commit.
  const [pause, end] = [new Int32Array(new SharedArrayBuffer(4)), Date.now() + 10_000]
  while (statSync(`${path}-wal`).size < 2_000_000 && Date.now() < end) Atomics.wait(pause, 0, 0, 2)
  rmSync(`${path}-wal`)
  expect(await create).toBeInstanceOf(StoreUnavailable)
  expect(await damage).toContain('start the service again')
  expect(storedBodies(path)).toEqual(['Ann', 'once'])
})

test('the service saves its commits in a copy if another process has begun a new log meanwhile', async () => {
  const { server, folder, rest } = await startWithKey()
  const path = join(folder, 'data/notes.db')
  expect((await rest.post('/v1/notes', { body: 'of the service', priority: 7 })).status).toBe(201)
  for (const suffix of ['-wal', '-shm']) rmSync(path + suffix)
  const other = openConnection(path)
  other.exec("INSERT INTO notes (body, priority, state) VALUES ('by hand', 1, 'done')")
  expect(await server.ended).toBe(1)
  const [copy = ''] = rescuedCopies(path)
  expect(server.stdout).toContain(`is saved in ${copy}: restore`)
  expect(storedBodies(copy)).toEqual(['of the service'])
  expect(storedBodies(path)).toEqual(['by hand'])
  expectIntact(path)
})

test('a key that a command revokes after the index of the log was deleted is refused, and what was acknowledged is kept', async () => {
  const { api, path, key, damage } = await startOnFile()
  await createKey(api.store, 'second')
  expect((await createNote(api, 'Ann')).status).toBe(201)
  rmSync(`${path}-shm`)
  const env = { DATABASE_URL: `file:${path}` }
  expect(await runCommand([...commandLine, 'keys', 'revoke', 'test'], { env }).ended).toBe(0)
  await damage
  await expectUnavailable(api.rest.get('/v1/notes', { authorization: `Bearer ${key}` }))
  await api.store.close()
  const revoked = openConnection(path).prepare('SELECT count(*) FROM api_keys WHERE revoked_at IS NOT NULL')
  expect(revoked.pluck().get()).toBe(1n)
  expect(storedBodies(path)).toEqual(['Ann'])
  expectIntact(path)
})

const ann = { body: 'Ann', priority: 7n, state: 'open' } as const

/** Makes the insert of a note with this body write 4 MB, and then take about a quarter of a second. */
const slowInsert = `
  CREATE TABLE large (bytes);
  CREATE VIEW slow AS WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers LIMIT 1000000) SELECT count(*) AS n FROM numbers;
  CREATE TRIGGER slow AFTER INSERT ON notes WHEN new.body = 'once' BEGIN INSERT INTO large VALUES (zeroblob(4000000)); SELECT n FROM slow; END`
