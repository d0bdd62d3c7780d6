import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { startTraced, startWithKey } from '../../../../test/notes/fixtures.ts'
import { openDatabase } from '../../../../test/support/database.ts'
import type { Server } from '../../../../test/support/process.ts'
import { canTrace } from '../../../../test/support/traced.ts'

const ann = { body: 'Ann', priority: 7 }
/** Longer than the interval at which the service checks the size of its log after a write. */
const checkInterval = 1_050

test('a log that grows because another process keeps a read transaction open is reported at 64 MiB, and again at twice that', async () => {
  const { server, folder, rest: caller } = await startWithKey()
  // On a busy machine, a service that has just started sheds requests.
  await expect.poll(async () => (await fetch(`${server.url}/readyz`)).status).toBe(200)
  const path = join(folder, 'data/notes.db')
  const writer = openDatabase(path)
  writer.exec('PRAGMA synchronous = OFF; CREATE TABLE filler (content BLOB)')
  const reader = openDatabase(path)
  reader.exec('BEGIN')
  reader.prepare('SELECT count(*) FROM notes').get()

  async function growLog(mebibytes: number): Promise<number[]> {
    writer.exec(`INSERT INTO filler VALUES (zeroblob(${mebibytes} * 1024 * 1024))`)
    await wait(checkInterval)
    expect((await caller.post('/v1/notes', ann)).status).toBe(201)
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
    return sizesIn(server)
  }
  expect(await growLog(40)).toEqual([])
  const [first = 0] = await growLog(30)
  expect(first).toBeGreaterThanOrEqual(70)
  expect(await growLog(30)).toEqual([first])
  expect(await growLog(60)).toEqual([first, expect.closeTo(160, -1.5)])

  reader.exec('COMMIT')
  // The first commit after that checkpoints the whole log, and the next one restarts it.
  for (let i = 0; i < 3; i++) expect((await caller.post('/v1/notes', ann)).status).toBe(201)
  expect(writer.pragma('wal_checkpoint(NOOP)')).toMatchObject([{ log: expect.toSatisfy((pages) => pages < 100) }])
})

/** The sizes in MiB that the warnings name. */
function sizesIn({ stdout }: Server): number[] {
  const warnings = stdout.matchAll(/"level":"warn",.*write-ahead log has grown to (\d+) MiB/g)
  return [...warnings].map(([, size]) => Number(size))
}

// Only strace can make the disk fail.
if (canTrace()) {
  test('while checkpoints fail, creates succeed, the service is not ready, and one warning is logged', async () => {
    // In WAL mode only checkpoints write to the database file. Each attempt ends at its first failed write.
    const {
      server,
      rest: caller,
      databasePath,
    } = await startTraced((path) => [
      ...['-P', path, '-e', 'trace=pwrite64', '-e', 'inject=pwrite64:error=EIO:when=1..40'],
    ])
    const create = async () => expect((await caller.post('/v1/notes', ann)).status).toBe(201)
    const readiness = async () => {
      await create()
      return (await fetch(`${server.url}/readyz`)).status
    }
    expect(await readiness()).toBe(200)
    // More pages than the service keeps in the log without a checkpoint.
    const writer = openDatabase(databasePath)
    writer.exec('PRAGMA wal_autocheckpoint = 0; CREATE TABLE filler AS SELECT zeroblob(20 * 1024 * 1024)')
    await expect.poll(readiness).toBe(503)
    await wait(checkInterval)
    expect(await readiness()).toBe(503)
    expect(
      server.stdout.match(/cannot be moved into the database \(SQLITE_IOERR_WRITE: disk I\/O error\)/g),
    ).toHaveLength(1)
    for (let i = 0; i < 40; i++) await create()
    await expect.poll(readiness).toBe(200)
  })
}
