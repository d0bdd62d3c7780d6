import { setTimeout as wait } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { openPostgres } from '../../../test/notes/database.ts'
import { startTestApi, type TestApi } from '../../../test/notes/fixtures.ts'
import { countWaiting, emptyDatabase, endSessions, lockTable, query } from '../../../test/support/postgres/databases.ts'
import { openPool } from '../../postgres/connection/connection.ts'
import { inTransaction } from '../../postgres/transaction.ts'

const newNote = { body: 'Ann', priority: 7 }
const unavailable = { status: 503, headers: { 'retry-after': '1' }, body: { code: 'unavailable', status: 503 } }

test('idle connections that are lost are replaced without a failed request', async () => {
  const { rest, url } = await startOnPostgres()
  for (let round = 0; round < 3; round++) {
    await Promise.all(Array.from({ length: 10 }, () => rest.get('/v1/notes')))
    expect(await endSessions(url)).toBeGreaterThan(0)
    await wait(100)
    expect((await rest.get('/v1/notes')).status).toBe(200)
    expect((await rest.post('/v1/notes', newNote)).status).toBe(201)
  }
})

test('a connection that is lost during a statement gives a 503, and the next request succeeds', async () => {
  const { rest, url } = await startOnPostgres()
  const release = await lockTable(url, 'notes')
  const requests = [rest.get('/v1/notes'), rest.post('/v1/notes', newNote), rest.get('/v1/notes/1')]
  await expect.poll(() => countWaiting(url)).toBe(3)
  await endSessions(url)
  for (const response of await Promise.all(requests)) expect(response).toMatchObject(unavailable)
  await release()
  expect(await rest.post('/v1/notes', newNote)).toMatchObject({ status: 201, body: { id: 1 } })
  expect((await rest.get('/v1/notes')).status).toBe(200)
})

test('a connection that is lost between two statements of a transaction ends the transaction, not the process', async () => {
  const { url } = await startOnPostgres()
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

test('a lock that is not released, and a pool without a free connection, give a 503', async () => {
  const { rest, url } = await startOnPostgres({ maxConnections: 1 })
  const release = await lockTable(url, 'notes')
  const begin = performance.now()
  const reads = Array.from({ length: 30 }, (_, index) => rest.get(`/v1/notes/${index + 1}`))
  for (const response of await Promise.all([rest.post('/v1/notes', newNote), ...reads]))
    expect(response).toMatchObject(unavailable)
  expect(performance.now() - begin).toBeLessThan(10_000)
  await release()
  expect((await rest.get('/v1/notes')).body).toEqual([])
})

test('a statement that takes too long is cancelled on the server', async () => {
  const { rest, url } = await startOnPostgres({ statementTimeout: 1_000 })
  const sleep = 'BEGIN PERFORM pg_sleep(60); RETURN NULL; END'
  await query(url, `CREATE FUNCTION sleep() RETURNS trigger LANGUAGE plpgsql AS '${sleep}'`)
  await query(url, 'CREATE TRIGGER sleep BEFORE INSERT ON notes FOR EACH STATEMENT EXECUTE FUNCTION sleep()')
  const created = rest.post('/v1/notes', newNote)
  await expect.poll(() => countSleeping(url)).toBe(1)
  expect(await created).toMatchObject(unavailable)
  expect(await countSleeping(url)).toBe(0)
  await query(url, 'DROP TRIGGER sleep ON notes')
  expect((await rest.post('/v1/notes', newNote)).status).toBe(201)
})

async function startOnPostgres({
  statementTimeout,
  maxConnections,
}: {
  statementTimeout?: number
  maxConnections?: number
} = {}): Promise<TestApi & { url: string }> {
  const url = await emptyDatabase()
  const address = statementTimeout ? `${url}?statement_timeout=${statementTimeout}` : url
  const store = await openPostgres({ url: address, maxConnections })
  onTestFinished(() => store.close())
  return { ...(await startTestApi({ store })), url }
}

async function countSleeping(url: string): Promise<number> {
  const sleeping = "FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'"
  return (await query(url, `SELECT pid ${sleeping}`)).length
}
