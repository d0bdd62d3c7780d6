import { Client } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { postgresDatabase } from '../../../../test/support/database.ts'
import { preparePostgres } from '../../../../test/support/engines.ts'
import { createRole, emptyDatabase, query, setReadOnly } from '../../../../test/support/postgres/databases.ts'
import { startTestApi } from '../../../../test/support/test-api.ts'

const rex = { name: 'Rex', categoryId: 7 }

test('while the database is read-only, creates and readiness get a 503 and reads continue, until it accepts writes again', async () => {
  const url = await emptyDatabase()
  const { rest } = await startTestApi({ store: await postgresDatabase(url).open() })
  expect((await rest.get('/readyz')).status).toBe(200)
  await setReadOnly(url, true)
  await expect.poll(async () => (await rest.get('/readyz')).status).toBe(503)
  expect(await rest.post('/v1/pets', rex)).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
  expect(await rest.get('/v1/pets')).toMatchObject({ status: 200, body: [] })
  await setReadOnly(url, false)
  await expect.poll(async () => (await rest.get('/readyz')).status).toBe(200)
  expect((await rest.post('/v1/pets', rex)).status).toBe(201)
})

test('an instance without the right to insert pets is not ready', async () => {
  const url = await emptyDatabase()
  await preparePostgres(url)
  const reader = await createRole(url)
  await query(url, `GRANT SELECT, UPDATE ON ALL TABLES IN SCHEMA public TO ${reader.role}`)
  const store = await postgresDatabase(reader.url).open()
  await expect(store.check()).rejects.toThrow(/permission denied for table .*; GRANT this user .* \(42501\)\.$/)
})

test('a readiness check does not wait for an open transaction that holds the advisory lock of inserts', async () => {
  const url = await emptyDatabase()
  const store = await postgresDatabase(url).open()
  const other = new Client({ connectionString: url })
  await other.connect()
  onTestFinished(() => other.end())
  await other.query("BEGIN; INSERT INTO pets (name, category_id, status) VALUES ('Minka', 7, 'sold')")
  await store.check()
})

test('a readiness check does not use up an id', async () => {
  const store = await postgresDatabase(await emptyDatabase()).open()
  for (let i = 0; i < 3; i++) await store.check()
  expect(await store.pets.create({ name: 'Rex', categoryId: 7n, status: 'sold' })).toMatchObject({ id: 1n })
})

test('the migration of a read-only database fails with the reason', async () => {
  const url = await emptyDatabase()
  await setReadOnly(url, true)
  await expect(preparePostgres(url)).rejects.toThrow(
    /in a read-only transaction; wait until the server accepts writes, or correct the address\.$/,
  )
})
