import { setTimeout as wait } from 'node:timers/promises'
import { Client } from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openPool } from '../../db/postgres/connection.ts'
import { inTransaction } from '../../db/postgres/transaction.ts'
import { revokeKey } from '../../server/ops/keys.ts'
import { postgresDatabase } from '../support/database.ts'
import { startTestApi, type TestApi } from '../support/helpers.ts'
import { createDatabase, query } from '../support/postgres/databases.ts'
import { startProxy } from '../support/postgres/proxy.ts'

const rex = { name: 'Rex', categoryId: 7 }
const unavailable = { status: 503, headers: { 'retry-after': '1' }, body: { code: 'unavailable', status: 503 } }

test('connections that are lost while nobody uses them are replaced unnoticed', async () => {
  const { rest, url } = await startOnPostgres()
  for (let round = 0; round < 3; round++) {
    await Promise.all(Array.from({ length: 10 }, () => rest.get('/v1/pets')))
    expect(await cutConnections(url)).toBeGreaterThan(0)
    await wait(100)
    expect((await rest.get('/v1/pets')).status).toBe(200)
    expect((await rest.post('/v1/pets', rex)).status).toBe(201)
  }
  await expect.poll(() => countListening(url), { timeout: 5_000 }).toBe(1)
})

test('a connection that is lost amid a statement is a 503, and the next request is answered', async () => {
  const { rest, url } = await startOnPostgres()
  const release = await lockPets(url)
  const requests = [rest.get('/v1/pets'), rest.post('/v1/pets', rex), rest.get('/v1/pets/1')]
  await expect.poll(() => countWaiting(url)).toBe(3)
  await cutConnections(url)
  for (const answer of await Promise.all(requests)) expect(answer).toMatchObject(unavailable)
  await release()
  expect(await rest.post('/v1/pets', rex)).toMatchObject({ status: 201, body: { id: 1 } })
  expect((await rest.get('/v1/pets')).status).toBe(200)
})

test('a connection that is lost between two statements of a transaction ends the transaction, not the process', async () => {
  const { url } = await startOnPostgres()
  const pool = openPool(url)
  onTestFinished(() => pool.end())
  const transaction = inTransaction(pool, async (db) => {
    await cutConnections(url)
    await wait(100)
    await db.$client.query('SELECT 1')
  })
  await expect(transaction).rejects.toThrow(/Connection terminated|not queryable/)
  expect((await pool.query('SELECT 1')).rowCount).toBe(1)
})

test('a lock that somebody keeps, and a pool without a free connection, are a 503', async () => {
  const { rest, url } = await startOnPostgres()
  const release = await lockPets(url)
  const begin = performance.now()
  const reads = Array.from({ length: 30 }, () => rest.get('/v1/pets'))
  for (const answer of await Promise.all([rest.post('/v1/pets', rex), ...reads]))
    expect(answer).toMatchObject(unavailable)
  expect(performance.now() - begin).toBeLessThan(10_000)
  await release()
  expect((await rest.get('/v1/pets')).body).toEqual([])
})

test('a statement that takes too long is given up, and not left to the server', async () => {
  const { rest, url } = await startOnPostgres()
  const dawdle = 'BEGIN PERFORM pg_sleep(60); RETURN NULL; END'
  await query(url, `CREATE FUNCTION dawdle() RETURNS trigger LANGUAGE plpgsql AS '${dawdle}'`)
  await query(url, 'CREATE TRIGGER dawdle BEFORE INSERT ON pets FOR EACH STATEMENT EXECUTE FUNCTION dawdle()')
  const creation = rest.post('/v1/pets', rex)
  await expect.poll(() => countSleeping(url)).toBe(1)
  expect(await creation).toMatchObject(unavailable)
  expect(await countSleeping(url)).toBe(0)
  await query(url, 'DROP TRIGGER dawdle ON pets')
  expect((await rest.post('/v1/pets', rex)).status).toBe(201)
})

test.for(['refuse', 'silence'] as const)('a server that is gone (%s) is a 503 until it is back', async (fault) => {
  const direct = await createDatabase()
  const proxy = await startProxy(new URL(direct))
  const { rest, log } = await startOnPostgres(proxy.url)
  expect((await rest.post('/v1/pets', rex)).status).toBe(201)
  await proxy[fault]()
  const answers = await Promise.all([
    rest.get('/v1/pets'),
    rest.post('/v1/pets', rex, { 'idempotency-key': 'a' }),
    rest.get('/readyz'),
  ])
  for (const answer of answers) expect(answer).toMatchObject({ status: 503, body: { code: 'unavailable' } })
  expect((await rest.get('/livez')).status).toBe(200)
  await proxy.resume()
  const begin = performance.now()
  await expect.poll(async () => (await rest.get('/v1/pets')).status, { timeout: 5_000 }).toBe(200)
  expect(performance.now() - begin).toBeLessThan(5_000)
  const again = await rest.post('/v1/pets', rex, { 'idempotency-key': 'a' })
  expect(again.status).toBe(201)
  expect((await rest.get('/v1/pets')).body).toHaveLength(2)
  // Neither the password nor what a statement was given.
  expect(log.join('')).not.toMatch(/petstore:petstore|[0-9a-f]{64}/)
})

test('a key that one instance revokes is refused by another within a moment', async () => {
  const { rest, url } = await startOnPostgres()
  const other = await startTestApi({ store: await postgresDatabase(url).open(), keyName: 'other' })
  await keepKey(rest, url)
  await revokeKey(other.store, 'test')
  await expect.poll(async () => (await rest.get('/v1/pets')).status, { interval: 10, timeout: 1_000 }).toBe(401)
})

test('a key that was revoked without a word is refused within five seconds', async () => {
  const { rest, url } = await startOnPostgres()
  await query(url, 'ALTER TABLE api_keys DISABLE TRIGGER api_keys_tell_changes')
  await keepKey(rest, url)
  await query(url, 'UPDATE api_keys SET revoked_at = now()')
  expect((await rest.get('/v1/pets')).status).toBe(200)
  await expect.poll(async () => (await rest.get('/v1/pets')).status, { timeout: 5_000 }).toBe(401)
})

test('a database that another release has migrated meanwhile does not look ready', async () => {
  const { rest, url } = await startOnPostgres()
  expect((await rest.get('/readyz')).status).toBe(200)
  await query(url, "INSERT INTO migrations VALUES ('9999_future', 'x', now())")
  await expect.poll(async () => (await rest.get('/readyz')).status, { timeout: 3_000 }).toBe(503)
})

test('an id that a row inserted by hand has taken fails one create, which may be retried', async () => {
  const { rest, url } = await startOnPostgres()
  await postgresDatabase(url).insertPet(1n)
  expect(await rest.post('/v1/pets', rex)).toMatchObject(unavailable)
  expect(await rest.post('/v1/pets', rex)).toMatchObject({ status: 201, body: { id: 2 } })
})

describe('a schema that a newer release has changed is a 503 without Retry-After:', () => {
  test.for([
    ['a required column without a default', 'ALTER TABLE pets ADD COLUMN owner text NOT NULL', rex],
    ['a stricter rule', "ALTER TABLE pets ADD CONSTRAINT pets_name_short CHECK (name <> 'Rex')", rex],
    ['a rule that is unique', 'CREATE UNIQUE INDEX pets_name_once ON pets (name)', { name: 'Minka', categoryId: 1 }],
    ['a shorter text', 'ALTER TABLE pets ALTER name TYPE varchar(2)', rex],
    ['a smaller number', 'ALTER TABLE pets ALTER category_id TYPE smallint', { name: 'Rex', categoryId: 70_000 }],
    ['another type', 'ALTER TABLE pets ALTER category_id TYPE uuid USING gen_random_uuid()', rex],
    ['no such column', 'ALTER TABLE pets RENAME category_id TO category', rex],
  ] as const)('%s', async ([, statement, pet]) => {
    const { rest, url } = await startOnPostgres()
    if (statement.includes('UNIQUE')) expect((await rest.post('/v1/pets', pet)).status).toBe(201)
    await query(url, 'ALTER TABLE pets DROP CONSTRAINT pets_name_length, DROP CONSTRAINT pets_name_not_blank')
    await query(
      url,
      statement.includes('uuid') ? `ALTER TABLE pets ALTER category_id DROP NOT NULL; ${statement}` : statement,
    )
    for (const headers of [{}, { 'idempotency-key': 'a' }]) {
      const response = await rest.post('/v1/pets', pet, headers)
      expect(response).toMatchObject({ status: 503, body: { code: 'unavailable' } })
      expect(response.headers).not.toHaveProperty('retry-after')
    }
  })

  test('a required column of the idempotency keys fails only creates with a key, also in one batch', async () => {
    const { rest, url } = await startOnPostgres()
    await query(url, 'ALTER TABLE idempotency_keys ADD COLUMN owner text NOT NULL')
    const creates = Array.from({ length: 10 }, (_, n) =>
      rest.post('/v1/pets', rex, n % 2 ? { 'idempotency-key': `${n}` } : {}),
    )
    const statuses = (await Promise.all(creates)).map(({ status }) => status)
    expect(statuses).toEqual(Array.from({ length: 10 }, (_, n) => (n % 2 ? 503 : 201)))
  })
})

/** The first look-up begins to listen, and only while somebody listens is a key kept. */
async function keepKey(rest: TestApi['rest'], url: string): Promise<void> {
  const look = async () => {
    await rest.get('/v1/pets')
    return countListening(url)
  }
  await expect.poll(look).toBe(1)
  expect((await rest.get('/v1/pets')).status).toBe(200)
}

async function startOnPostgres(address?: string): Promise<TestApi & { url: string }> {
  const url = address ?? (await createDatabase())
  const api = await startTestApi({ store: await postgresDatabase(url).open() })
  return { ...api, url }
}

/** Ends the connections of the service, as a restart of the server would. */
async function cutConnections(url: string): Promise<number> {
  const others = "FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'petstore'"
  return (await query(url, `SELECT pg_terminate_backend(pid) ${others}`)).length
}

async function countWaiting(url: string): Promise<number> {
  const waiting = "FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
  return (await query(url, `SELECT pid ${waiting}`)).length
}

async function countListening(url: string): Promise<number> {
  const listening =
    "FROM pg_stat_activity WHERE datname = current_database() AND query = 'LISTEN api_keys' AND state = 'idle'"
  return (await query(url, `SELECT pid ${listening}`)).length
}

async function countSleeping(url: string): Promise<number> {
  const sleeping = "FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'"
  return (await query(url, `SELECT pid ${sleeping}`)).length
}

/** Keeps everybody from the table until it is released. */
async function lockPets(url: string): Promise<() => Promise<void>> {
  const person = new Client({ connectionString: url })
  await person.connect()
  onTestFinished(() => person.end())
  await person.query('BEGIN; LOCK TABLE pets IN ACCESS EXCLUSIVE MODE')
  return async () => void (await person.query('ROLLBACK'))
}
