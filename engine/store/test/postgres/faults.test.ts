import { setTimeout as wait } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { note, openPostgres } from '../../../test/notes/database.ts'
import { countWaiting, emptyDatabase, endSessions, lockTable, query } from '../../../test/support/postgres/databases.ts'
import { openPool } from '../../postgres/connection/connection.ts'
import { inTransaction } from '../../postgres/transaction.ts'

const all = { limit: 9 }
const unavailable = { status: 'rejected', reason: { name: 'StoreUnavailable', isRetryable: true } }

test('idle connections that are lost are replaced without a failed call', async () => {
  const { notes, url } = await openOnPostgres()
  for (let round = 0; round < 3; round++) {
    await Promise.all(Array.from({ length: 10 }, (_, index) => notes.list({ limit: index + 1 })))
    expect(await endSessions(url)).toBeGreaterThan(0)
    await wait(100)
    expect(await notes.list(all)).toHaveLength(round)
    await notes.create({ ...note })
  }
})

test('a connection that is lost during a statement makes the call fail, and the next one succeeds', async () => {
  const { notes, url } = await openOnPostgres()
  const release = await lockTable(url, 'notes')
  const calls = Promise.allSettled([notes.list(all), notes.create({ ...note }), notes.get(1n)])
  await expect.poll(() => countWaiting(url)).toBe(3)
  await endSessions(url)
  expect(await calls).toMatchObject(Array(3).fill(unavailable))
  await release()
  expect(await notes.create({ ...note })).toMatchObject({ id: 1n })
  expect(await notes.list(all)).toHaveLength(1)
})

test('a connection that is lost between two statements of a transaction ends the transaction, not the process', async () => {
  const { url } = await openOnPostgres()
  const pool = openPool(url, undefined, undefined, 'notes')
  onTestFinished(() => pool.end())
  const transaction = inTransaction(pool, async (db) => {
    await endSessions(url)
    await wait(100)
    await db.query('SELECT 1')
  })
  await expect(transaction).rejects.toThrow(/Connection terminated|not queryable/)
  expect((await pool.query('SELECT 1')).rowCount).toBe(1)
})

test('a lock that is not released, and a pool without a free connection, make calls fail in time', async () => {
  const { notes, url } = await openOnPostgres({ maxConnections: 1 })
  const release = await lockTable(url, 'notes')
  const begin = performance.now()
  const reads = Array.from({ length: 30 }, (_, index) => notes.get(BigInt(index + 1)))
  expect(await Promise.allSettled([notes.create({ ...note }), ...reads])).toMatchObject(Array(31).fill(unavailable))
  expect(performance.now() - begin).toBeLessThan(10_000)
  await release()
  expect(await notes.list(all)).toEqual([])
})

test('a statement that takes too long is cancelled on the server', async () => {
  const { notes, url } = await openOnPostgres({ statementTimeout: 1_000 })
  const sleep = 'BEGIN PERFORM pg_sleep(60); RETURN NULL; END'
  await query(url, `CREATE FUNCTION sleep() RETURNS trigger LANGUAGE plpgsql AS '${sleep}'`)
  await query(url, 'CREATE TRIGGER sleep BEFORE INSERT ON notes FOR EACH STATEMENT EXECUTE FUNCTION sleep()')
  const created = Promise.allSettled([notes.create({ ...note })])
  await expect.poll(() => countSleeping(url)).toBe(1)
  expect(await created).toMatchObject([unavailable])
  expect(await countSleeping(url)).toBe(0)
  await query(url, 'DROP TRIGGER sleep ON notes')
  await notes.create({ ...note })
})

async function openOnPostgres({
  statementTimeout,
  maxConnections,
}: {
  statementTimeout?: number
  maxConnections?: number
} = {}) {
  const url = await emptyDatabase()
  const address = statementTimeout ? `${url}?statement_timeout=${statementTimeout}` : url
  const store = await openPostgres({ url: address, maxConnections })
  onTestFinished(() => store.close())
  return { ...store, url }
}

async function countSleeping(url: string): Promise<number> {
  const sleeping = "FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'"
  return (await query(url, `SELECT pid ${sleeping}`)).length
}
