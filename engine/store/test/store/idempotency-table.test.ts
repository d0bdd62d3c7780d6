import { expect, onTestFinished, test } from 'vitest'
import { notesDatabase, prepareWrites } from '../../../test/notes/database.ts'
import { notes } from '../../../test/notes/tables.ts'
import { isOnPostgres } from '../../../test/support/database.ts'
import { openPool } from '../../postgres/connection/connection.ts'
import { failuresOf } from '../../postgres/connection/failure.ts'
import { prepareMutations } from '../../postgres/mutations.ts'
import { insertInto } from '../../postgres/statements.ts'
import { postgresTableOf } from '../../postgres/table.ts'
import { connect } from '../../sqlite/file/connection.ts'
import { prepareCommit } from '../../sqlite/writer/committer.ts'
import { idempotentWrite, type Write } from '../../sqlite/writer/writes.ts'

const start = new Date('2026-01-01T00:00:00Z')
const later = daysLater(1)
const created = (id: bigint) => ({ value: { generated: { id }, isReplay: false } })
const replayed = (id: bigint) => ({ value: { generated: { id }, isReplay: true } })

test('a key is remembered for 24 hours', async () => {
  const { run } = await openCreates()
  await run(start, 'a')
  expect(await run(new Date(Number(later) - 1), 'a')).toMatchObject([replayed(1n)])
  expect(await run(later, 'a')).toMatchObject([created(2n)])
  expect(await run(later, 'b', 'a', 'c', 'b', 'b')).toMatchObject([
    created(3n),
    replayed(2n),
    created(4n),
    replayed(3n),
    replayed(3n),
  ])
})

test('expired keys are deleted as new keys are added, and one whose row is still there is taken again', async () => {
  const { run, count } = await openCreates()
  for (let i = 0; i < 20; i++) await run(start, `old ${i}`)
  // Before the insert, the sweep deletes the first rows only.
  for (const expected of [created(21n), replayed(21n)]) expect(await run(later, 'old 19')).toMatchObject([expected])
  for (let i = 1; i < 20; i++) await run(later, `new ${i}`)
  expect(await count('idempotency_keys')).toBe(20)
  await run(later, 'new 1')
  expect(await count('idempotency_keys')).toBe(20)
})

test('keys from the future stay until they expire, and expired ones behind them are deleted', async () => {
  const { run, count } = await openCreates()
  for (let i = 0; i < 10; i++) await run(daysLater(10), `future ${i}`)
  for (let i = 0; i < 10; i++) await run(start, `old ${i}`)
  for (let i = 0; i < 20; i++) await run(later, `new ${i}`)
  expect(await count('idempotency_keys')).toBe(30)
  expect(await run(later, 'future 0')).toMatchObject([replayed(1n)])
  for (let i = 0; i < 40; i++) await run(daysLater(11), `last ${i}`)
  expect(await count('idempotency_keys')).toBe(40)
})

test('there is never a key without its note, or a note without its key', async () => {
  const { run, count, execute } = await openCreates()
  await execute(
    isOnPostgres
      ? 'ALTER TABLE idempotency_keys ADD CONSTRAINT refuse CHECK (false)'
      : "CREATE TRIGGER refuse BEFORE INSERT ON idempotency_keys BEGIN SELECT RAISE(ABORT, 'no'); END",
  )
  for (const outcome of await run(start, 'a', 'b')) expect(outcome).not.toHaveProperty('value')
  expect([await count('notes'), await count('idempotency_keys')]).toEqual([0, 0])
})

test('a stored result that cannot be read is a defect, and no outage', async () => {
  const { run, execute } = await openCreates()
  await run(start, 'a')
  await execute("UPDATE idempotency_keys SET result = 'x'")
  const defect = isOnPostgres ? { error: { name: 'SyntaxError' } } : { failure: { code: 'SyntaxError' } }
  expect(await run(start, 'a')).toMatchObject([defect])
})

function daysLater(days: number): Date {
  return new Date(Number(start) + days * 24 * 3_600_000)
}

/** Runs creates of notes with these keys at a time, in one batch. */
async function openCreates() {
  const database = await notesDatabase()
  await database.open()
  const { location } = database
  const commit = location.kind === 'postgres' ? committingTo(location.url) : writingTo(location.path)
  return {
    run: async (now: Date, ...keys: string[]): Promise<object[]> => commit(keys, now),
    count: async (table: string) => (await database.rows(table)).length,
    execute: database.execute,
  }
}

function writingTo(path: string) {
  const connection = connect(path, { busyTimeout: 0 })
  onTestFinished(() => void connection.close())
  const commit = prepareCommit(connection, prepareWrites(connection))
  const call = (key: string, now: Date): Write => [idempotentWrite, 'notes.create', 1n, key, now, 'Ann', 7n, 'open']
  return (keys: string[], now: Date) => commit(keys.map((key) => [...call(key, now), null, null])).outcomes
}

function committingTo(url: string) {
  const pool = openPool(url)
  onTestFinished(() => pool.end())
  const commit = prepareMutations(pool, failuresOf([]))
  const table = postgresTableOf(notes)
  const call = { operation: 'notes.create', mutation: insertInto(table), table, values: ['Ann', 7n, 'open'] }
  return (keys: string[], now: Date) =>
    commit(
      keys.map((key) => ({ ...call, idempotency: { owner: 1n, key } })),
      now,
    )
}
