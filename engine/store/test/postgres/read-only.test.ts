import { expect, test } from 'vitest'
import { postgresDatabase, preparePostgres } from '../../../test/notes/database.ts'
import { startTestApi } from '../../../test/notes/fixtures.ts'
import { connectTo, createRole, emptyDatabase, query, setReadOnly } from '../../../test/support/postgres/databases.ts'

const newNote = { body: 'Ann', priority: 7 }

test('while the database is read-only, creates and readiness get a 503 and reads continue, until it accepts writes again', async () => {
  const url = await emptyDatabase()
  const { rest } = await startTestApi({ store: await postgresDatabase(url).open() })
  expect((await rest.get('/readyz')).status).toBe(200)
  await setReadOnly(url, true)
  await expect.poll(async () => (await rest.get('/readyz')).status).toBe(503)
  expect(await rest.post('/v1/notes', newNote)).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
  expect(await rest.get('/v1/notes')).toMatchObject({ status: 200, body: [] })
  await setReadOnly(url, false)
  await expect.poll(async () => (await rest.get('/readyz')).status).toBe(200)
  expect((await rest.post('/v1/notes', newNote)).status).toBe(201)
})

test('an instance without one of the rights that its writes need is not ready', async () => {
  const url = await emptyDatabase()
  await preparePostgres(url)
  const { role, url: ofRole } = await createRole(url)
  await query(url, `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${role}`)
  const store = await postgresDatabase(ofRole).open()
  await store.check()
  for (const [table, rights] of Object.entries({
    api_keys: ['SELECT', 'INSERT', 'UPDATE'],
    history: ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
    idempotency_keys: ['SELECT', 'INSERT', 'DELETE'],
    notes: ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
  })) {
    for (const right of rights) {
      await query(url, `REVOKE ${right} ON ${table} FROM ${role}`)
      await expect(store.check(), `${right} on ${table}`).rejects.toThrow(
        new RegExp(`permission denied for table ${table}; GRANT this user .* \\(42501\\)\\.$`),
      )
      await query(url, `GRANT ${right} ON ${table} TO ${role}`)
    }
  }
  await store.check()
})

test('a readiness check does not wait for an open transaction that holds the advisory lock of inserts', async () => {
  const url = await emptyDatabase()
  const store = await postgresDatabase(url).open()
  const other = await connectTo(url)
  await other.query("BEGIN; INSERT INTO notes (body, priority, state) VALUES ('Bea', 7, 'done')")
  await store.check()
})

test('a readiness check does not use up an id', async () => {
  const store = await postgresDatabase(await emptyDatabase()).open()
  for (let i = 0; i < 3; i++) await store.check()
  expect(await store.notes.create({ body: 'Ann', priority: 7n, state: 'done' })).toMatchObject({ id: 1n })
})
