import { expect, test } from 'vitest'
import { note, postgresDatabase, preparePostgres } from '../../../test/notes/database.ts'
import { connectTo, createRole, emptyDatabase, query, setReadOnly } from '../../../test/support/postgres/databases.ts'

const readOnly = { name: 'StoreUnavailable', failure: 'read_only', isRetryable: true }

test('while the database is read-only, creates and readiness fail and reads continue, until it accepts writes again', async () => {
  const url = await emptyDatabase()
  const store = await postgresDatabase(url).open()
  await store.check()
  await setReadOnly(url, true)
  await expect(store.check()).rejects.toMatchObject(readOnly)
  await expect(store.notes.create({ ...note })).rejects.toMatchObject(readOnly)
  expect(await store.notes.list({ limit: 9 })).toEqual([])
  await setReadOnly(url, false)
  const isReady = () =>
    store.check().then(
      () => true,
      () => false,
    )
  await expect.poll(isReady).toBe(true)
  expect(await store.notes.create({ ...note })).toMatchObject(note)
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
  expect(await store.notes.create({ ...note })).toMatchObject({ id: 1n })
})
