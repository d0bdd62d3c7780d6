import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { prepareSqlite, startTraced } from '../../../test/notes/fixtures.ts'
import { isLongForm, report } from '../../../test/support/long-form.ts'
import { change } from '../../../test/support/sample-database.ts'
import { temporaryFolder } from '../../../test/support/temporary.ts'
import { canTrace } from '../../../test/support/traced.ts'
import { createNote, expectUnavailable, listBodies, openConnection, startOnFile, storedBodies } from './file-faults.ts'

// Only strace can remove a system call, or make the disk fail.
if (canTrace()) {
  test('notes are created without the statx system call', async () => {
    const { rest } = await startTraced(() => ['-e', 'trace=statx', '-e', 'inject=statx:error=ENOSYS'])
    for (let i = 0; i < 5; i++)
      expect((await rest.post('/v1/notes', { body: `note ${i}`, priority: 7 })).status).toBe(201)
  })
}

test('each of 16 writers waits for at most two busy timeouts, and reads continue, while another process holds the lock', async () => {
  const { api, path } = await startOnFile()
  await createNote(api, 'before')
  const other = openConnection(path)
  other.exec('BEGIN IMMEDIATE')
  const refusals: number[] = []
  const reads: number[] = []
  const lives: number[] = []
  // A pause of the machine makes one refusal of each writer late, and one read.
  const samples = isLongForm ? 800 : 400
  const isOver = () => refusals.length >= samples && reads.length >= samples / 8
  async function keepWriting(delay: number): Promise<void> {
    await wait(delay)
    while (!isOver()) refusals.push(await time(() => expectUnavailable(createNote(api, 'refused'))))
  }
  const writers = Promise.all(Array.from({ length: 16 }, (_, index) => keepWriting(index * 16)))
  while (!isOver()) {
    await wait(20)
    reads.push(await time(async () => expect((await listBodies(api)).status).toBe(200)))
    lives.push(await time(async () => expect((await api.rest.get('/livez')).status).toBe(200)))
  }
  await writers
  other.exec('ROLLBACK')
  expect((await createNote(api, 'after')).status).toBe(201)
  const p90 = { refusal: p90Of(refusals), read: p90Of(reads), livez: p90Of(lives) }
  report('p90 in milliseconds under the lock of another process', p90)
  // openFileStore waits 250 ms for a lock, and a write may arrive during the wait of others. An event loop that waits for it would delay every read as long.
  expect(Math.min(...refusals)).toBeGreaterThan(240)
  // One after the other, the writers would wait for four seconds.
  expect(p90.refusal).toBeLessThan(2_000)
  expect(p90.read).toBeLessThan(200)
  expect(p90.livez).toBeLessThan(200)
  expect(storedBodies(path)).toEqual(['before', 'after'])
})

function p90Of(times: number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.9)] ?? Number.NaN
}

test('requests that need a corrupt page get 503, and all others succeed', async () => {
  const path = join(temporaryFolder(), 'notes.db')
  prepareSqlite(path)
  // Long names, so that the 2,000 notes fill more than a hundred pages.
  change(
    path,
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) INSERT INTO notes (body, priority, state) SELECT printf('%-200d', i), 1, 'open' FROM n",
  )
  const { api } = await startOnFile({ path, given: path })
  const bytes = readFileSync(path)
  const middle = Math.floor(bytes.length / 8192) * 4096
  bytes.fill(0xff, middle, middle + 4096)
  writeFileSync(path, bytes)
  const responses = []
  for (let id = 5; id < 2_000; id += 10) responses.push(await api.rest.get(`/v1/notes/${id}`))
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200, 503]))
  const refused = responses.filter(({ status }) => status === 503)
  expect(refused.length).toBeLessThan(20)
  // The disk may be able to read it later: SQLite has one code for both.
  for (const { body, headers } of refused) {
    expect(body).toMatchObject({ code: 'unavailable' })
    expect(headers).toMatchObject({ 'retry-after': '1' })
  }
  expect((await api.rest.get('/v1/notes?limit=1')).status).toBe(200)
})

async function time(task: () => Promise<void>): Promise<number> {
  const start = performance.now()
  await task()
  return performance.now() - start
}
