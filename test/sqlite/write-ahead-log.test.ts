import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Caller } from '../support/caller.ts'
import { openDatabase } from '../support/helpers.ts'
import { bannerKey, createFirstKey, runPetstore, type Server, startServer, waitForOutput } from '../support/process.ts'
import { temporaryFolder } from '../support/temporary.ts'
import { canTrace, startTraced } from '../support/traced.ts'

const rex = { name: 'Rex', categoryId: 7 }

test('a read transaction that another process keeps open is reported when the log reaches 64 MiB, and again at twice that', async () => {
  const folder = temporaryFolder()
  const server = await startServer({ folder })
  const caller = new Caller(server.url, await waitForOutput(server, bannerKey))
  const path = join(folder, 'data/petstore.db')
  const person = openDatabase(path)
  person.exec('PRAGMA synchronous = OFF; CREATE TABLE filler (content BLOB)')
  const reader = openDatabase(path)
  reader.exec('BEGIN')
  reader.prepare('SELECT count(*) FROM pets').get()

  async function growLog(mebibytes: number): Promise<number[]> {
    for (let i = 0; i < mebibytes; i++) person.exec('INSERT INTO filler VALUES (zeroblob(1024 * 1024))')
    // The service looks at its log when it writes, and at most once a second.
    await wait(1_100)
    expect((await caller.post('/v1/pets', rex)).status).toBe(201)
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
    return sizesIn(server)
  }
  expect(await growLog(40)).toEqual([])
  const [first = 0] = await growLog(30)
  expect(first).toBeGreaterThanOrEqual(70)
  expect(await growLog(30)).toEqual([first])
  expect(await growLog(60)).toEqual([first, expect.closeTo(160, -1.5)])

  reader.exec('COMMIT')
  // The first commit after that checkpoints the whole log, and the next one starts it again.
  for (let i = 0; i < 3; i++) await growLog(0)
  expect(person.pragma('wal_checkpoint(NOOP)')).toMatchObject([{ log: expect.toSatisfy((pages) => pages < 100) }])
})

test('a start that has to move a large write-ahead log into the database says so before it does', async () => {
  const folder = temporaryFolder()
  await createFirstKey(folder)
  const path = join(folder, 'data/petstore.db')
  const person = openDatabase(path)
  person.exec('PRAGMA synchronous = OFF; PRAGMA wal_autocheckpoint = 0; CREATE TABLE filler (content BLOB)')
  for (let i = 0; i < 130; i++) person.exec('INSERT INTO filler VALUES (zeroblob(1024 * 1024))')
  // What is left when every process was killed.
  const left = temporaryFolder()
  mkdirSync(join(left, 'data'))
  for (const suffix of ['', '-wal']) copyFileSync(path + suffix, join(left, `data/petstore.db${suffix}`))

  const server = await startServer({ folder: left })
  expect(server.stdout.split('\n')[0]).toMatch(/"level":40,.*The write-ahead log has 13\d MiB/)
  const list = runPetstore({ folder: left, arguments: ['keys', 'list'] })
  expect([await list.ended, list.stderr]).toEqual([0, ''])
})

/** The MiB that warnings name. */
function sizesIn({ stdout }: Server): number[] {
  const warnings = stdout.matchAll(/"level":40,.*write-ahead log has grown to (\d+) MiB/g)
  return [...warnings].map(([, size]) => Number(size))
}

// Only from outside can a disk be made to fail.
if (canTrace()) {
  test('while checkpoints fail the service is not ready, although creates succeed, and one warning is logged', async () => {
    // In WAL mode only checkpoints write to the database file. Each attempt ends at its first write.
    const { server, key, log } = await startTraced((path) => [
      ...['-P', path, '-e', 'trace=pwrite64', '-e', 'inject=pwrite64:error=EIO:when=1..500'],
    ])
    const caller = new Caller(server.url, key)
    const create = async () => expect((await caller.post('/v1/pets', rex)).status).toBe(201)
    const readiness = async () => {
      await create()
      return (await fetch(`${server.url}/readyz`)).status
    }
    expect(await readiness()).toBe(200)
    for (let i = 0; i < 400; i++) await create()
    await expect.poll(readiness, { timeout: 10_000 }).toBe(503)
    await wait(1_100)
    expect(await readiness()).toBe(503)
    expect(log().match(/cannot be moved into the database \(SQLITE_IOERR_WRITE: disk I\/O error\)/g)).toHaveLength(1)
    for (let i = 0; i < 500; i++) await create()
    await expect.poll(readiness, { timeout: 10_000 }).toBe(200)
  })
}
