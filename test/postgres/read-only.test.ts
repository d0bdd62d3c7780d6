import { Client } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { prepareDatabase } from '../../db/postgres/prepare.ts'
import { mintApiKey } from '../../server/auth/api-key.ts'
import { Caller } from '../support/caller.ts'
import { postgresDatabase } from '../support/database.ts'
import { startTestApi } from '../support/helpers.ts'
import { createDatabase, query } from '../support/postgres/databases.ts'
import { startServer, waitForOutput } from '../support/process.ts'

const rex = { name: 'Rex', categoryId: 7 }

test('while the database is read-only, creates and readiness are 503 and reads go on, until it takes writes again', async () => {
  const url = await createDatabase()
  const { rest } = await startTestApi({ store: await postgresDatabase(url).open() })
  expect((await rest.get('/readyz')).status).toBe(200)
  await setReadOnly(url, true)
  await expect.poll(async () => (await rest.get('/readyz')).status, { timeout: 5_000 }).toBe(503)
  expect(await rest.post('/v1/pets', rex)).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
  expect(await rest.get('/v1/pets')).toMatchObject({ status: 200, body: [] })
  await setReadOnly(url, false)
  await expect.poll(async () => (await rest.get('/readyz')).status, { timeout: 5_000 }).toBe(200)
  expect((await rest.post('/v1/pets', rex)).status).toBe(201)
})

test('an instance without the right to insert pets is not ready', async () => {
  const url = await createDatabase()
  await prepareDatabase(url)
  const role = `reader_${new URL(url).pathname.slice(1)}`
  await query(
    url,
    `CREATE ROLE ${role} LOGIN PASSWORD 'petstore'; GRANT SELECT, UPDATE ON ALL TABLES IN SCHEMA public TO ${role}`,
  )
  onTestFinished(async () => void (await query(url, `DROP OWNED BY ${role}; DROP ROLE ${role}`)))
  const store = await postgresDatabase(Object.assign(new URL(url), { username: role }).href).open()
  await expect(store.check()).rejects.toThrow('42501: permission denied for table')
})

test('readiness does not wait for an open transaction that holds the advisory lock of inserts', async () => {
  const url = await createDatabase()
  const store = await postgresDatabase(url).open()
  const person = new Client({ connectionString: url })
  await person.connect()
  onTestFinished(() => person.end())
  await person.query("BEGIN; INSERT INTO pets (name, category_id, status) VALUES ('Minka', 7, 'sold')")
  await store.check()
})

test('readiness uses up no id', async () => {
  const store = await postgresDatabase(await createDatabase()).open()
  for (let i = 0; i < 3; i++) await store.check()
  expect(await store.pets.create({ name: 'Rex', categoryId: 7n, status: 'sold' })).toMatchObject({ id: 1n })
})

test('an instance whose configured key is known starts on a read-only database and serves reads', async () => {
  const [url, key] = [await createDatabase(), mintApiKey()]
  const env = { DATABASE_URL: url, PETSTORE_API_KEY: key }
  const first = await startServer({ env })
  first.child.kill('SIGTERM')
  await first.ended
  await setReadOnly(url, true)
  const server = await startServer({ env })
  expect(await new Caller(server.url, key).get('/v1/pets')).toMatchObject({ status: 200 })
  expect(await new Caller(server.url, key).post('/v1/pets', rex)).toMatchObject({ status: 503 })
  expect(server.stdout).not.toContain('could not register')
})

test('an instance with a new key starts on a read-only database, serves other keys and registers its own later', async () => {
  const [url, oldKey, newKey] = [await createDatabase(), mintApiKey(), mintApiKey()]
  const first = await startServer({ env: { DATABASE_URL: url, PETSTORE_API_KEY: oldKey } })
  first.child.kill('SIGTERM')
  await first.ended
  await setReadOnly(url, true)
  const server = await startServer({ env: { DATABASE_URL: url, PETSTORE_API_KEY: newKey } })
  await waitForOutput(server, /"level":40.*(could not register the API key pet_\w{6}… of the environment)/)
  expect(server.stdout).not.toContain(newKey)
  expect(await new Caller(server.url, oldKey).get('/v1/pets')).toMatchObject({ status: 200 })
  expect(await new Caller(server.url, newKey).get('/v1/pets')).toMatchObject({ status: 401 })
  await setReadOnly(url, false)
  await endSessions(url)
  const status = async () => (await new Caller(server.url, newKey).get('/v1/pets')).status
  await expect.poll(status, { timeout: 10_000 }).toBe(200)
  server.child.kill('SIGTERM')
  expect(await server.ended).toBe(0)
})

test('an instance that has to migrate a read-only database says so', async () => {
  const url = await createDatabase()
  await setReadOnly(url, true)
  await expect(prepareDatabase(url)).rejects.toThrow(
    /in a read-only transaction; wait until the server accepts writes, or correct the address\.$/,
  )
})

/** As after a failover. Sessions keep the default they began with, so a read-only one stays read-only. */
async function setReadOnly(url: string, isReadOnly: boolean): Promise<void> {
  const name = new URL(url).pathname.slice(1)
  const server = Object.assign(new URL(url), { pathname: '/postgres' }).href
  await query(server, `ALTER DATABASE ${name} SET default_transaction_read_only = ${isReadOnly ? 'on' : 'off'}`)
  if (isReadOnly) await endSessions(url)
}

async function endSessions(url: string): Promise<void> {
  const sessions = "FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'petstore'"
  await query(url, `SELECT pg_terminate_backend(pid) ${sessions}`)
}
