import { describe, expect, test } from 'vitest'
import { postgresDatabase } from '../../../test/notes/database.ts'
import { startTestApi, type TestApi } from '../../../test/notes/fixtures.ts'
import { emptyDatabase, query } from '../../../test/support/postgres/databases.ts'

const newNote = { body: 'Ann', priority: 7 }

test('a database that another release has migrated is not ready', async () => {
  const { rest, url } = await startOnPostgres()
  expect((await rest.get('/readyz')).status).toBe(200)
  await query(url, "INSERT INTO migrations VALUES ('9999_future', 'x', now())")
  const unready = {
    status: 503,
    body: { message: expect.stringContaining('A newer release has migrated the database') },
  }
  await expect.poll(() => rest.get('/readyz')).toMatchObject(unready)
})

test('ids of rows that were copied with them are skipped at once, also by creates that share a transaction', async () => {
  const { rest, url } = await startOnPostgres()
  const copy = (from: number, to: number) =>
    query(
      url,
      `INSERT INTO notes (id, body, priority, state) OVERRIDING SYSTEM VALUE
        SELECT n, 'copied', 1, 'done' FROM generate_series(${from}, ${to}) AS n`,
    )
  await copy(1, 300)
  const creates = Array.from({ length: 20 }, (_, index) =>
    rest.post('/v1/notes', newNote, index % 2 ? { 'idempotency-key': `${index}` } : {}),
  )
  const responses = await Promise.all(creates)
  expect(responses.map(({ status }) => status)).toEqual(Array(20).fill(201))
  const ids = responses.map(({ body }) => Number((body as { id: number }).id))
  expect(new Set(ids).size).toBe(20)
  expect(Math.min(...ids)).toBeGreaterThan(300)
  const newest = Math.max(...ids)
  await copy(newest + 1, newest + 50)
  expect(await rest.post('/v1/notes', newNote)).toMatchObject({ status: 201, body: { id: newest + 51 } })
})

test('ids of entries of the history that were copied with them are skipped', async () => {
  const { rest, store, url } = await startOnPostgres()
  for (const status of [201, 201]) expect((await rest.post('/v1/notes', newNote)).status).toBe(status)
  // The sequence of the notes must stay as it is.
  await query(url, 'DELETE FROM notes WHERE id = 2')
  await query(
    url,
    `INSERT INTO history (id, at, collection, row_id, before) OVERRIDING SYSTEM VALUE
      SELECT n, now(), 'notes', 1, '{}' FROM generate_series(1, 300) AS n`,
  )
  expect(await store.notes.update({ id: 1n, set: { state: 'done' } })).toMatchObject({ state: 'done' })
})

describe('a create that fails because a newer release has changed the schema gets a 503 without Retry-After:', () => {
  test.for([
    ['a required column without a default', 'ALTER TABLE notes ADD COLUMN owner text NOT NULL', newNote],
    ['a stricter rule', "ALTER TABLE notes ADD CONSTRAINT notes_body_short CHECK (body <> 'Ann')", newNote],
    ['a unique rule', 'CREATE UNIQUE INDEX notes_body_once ON notes (body)', { body: 'Bea', priority: 1 }],
    ['a shorter text', 'ALTER TABLE notes ALTER body TYPE varchar(2)', newNote],
    ['a smaller number', 'ALTER TABLE notes ALTER priority TYPE smallint', { body: 'Ann', priority: 70_000 }],
    ['another type', 'ALTER TABLE notes ALTER priority TYPE uuid USING gen_random_uuid()', newNote],
    ['no such column', 'ALTER TABLE notes RENAME priority TO rank', newNote],
  ] as const)('%s', async ([, statement, note]) => {
    const { rest, url } = await startOnPostgres()
    if (statement.includes('UNIQUE')) expect((await rest.post('/v1/notes', note)).status).toBe(201)
    await query(url, 'ALTER TABLE notes DROP CONSTRAINT notes_body_length, DROP CONSTRAINT notes_body_not_blank')
    await query(
      url,
      statement.includes('uuid') ? `ALTER TABLE notes ALTER priority DROP NOT NULL; ${statement}` : statement,
    )
    for (const headers of [{}, { 'idempotency-key': 'a' }]) {
      const response = await rest.post('/v1/notes', note, headers)
      expect(response).toMatchObject({ status: 503, body: { message: expect.stringContaining('a newer release') } })
      expect(response.headers).not.toHaveProperty('retry-after')
    }
  })

  test('a required column of the idempotency keys fails only the creates with a key, also within one batch', async () => {
    const { rest, url } = await startOnPostgres()
    await query(url, 'ALTER TABLE idempotency_keys ADD COLUMN owner text NOT NULL')
    const creates = Array.from({ length: 10 }, (_, n) =>
      rest.post('/v1/notes', newNote, n % 2 ? { 'idempotency-key': `${n}` } : {}),
    )
    const statuses = (await Promise.all(creates)).map(({ status }) => status)
    expect(statuses).toEqual(Array.from({ length: 10 }, (_, n) => (n % 2 ? 503 : 201)))
  })
})

const noTrigger = 'table "books" has no trigger before each INSERT that calls pg_advisory_xact_lock('
test.for([
  ['a missing trigger that orders ids', 'DROP TRIGGER books_take_turns ON books', noTrigger],
  ['a disabled trigger', 'ALTER TABLE books DISABLE TRIGGER books_take_turns', noTrigger],
  [
    'a trigger that takes no lock',
    "CREATE OR REPLACE FUNCTION take_turns() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
    noTrigger,
  ],
  [
    'a trigger after the insert',
    'DROP TRIGGER books_take_turns ON books; CREATE TRIGGER books_take_turns AFTER INSERT ON books FOR EACH STATEMENT EXECUTE FUNCTION take_turns()',
    noTrigger,
  ],
  ['a missing check', 'ALTER TABLE notes DROP CONSTRAINT notes_body_length', 'notes lacks notes_body_length'],
  ['a missing index', 'DROP INDEX notes_by_state', 'notes lacks notes_by_state'],
  ['a missing unique rule', 'ALTER TABLE api_keys DROP CONSTRAINT api_keys_hash', 'api_keys lacks api_keys_hash'],
] as const)('%s makes the store unready, and stops the next start', async ([, change, part]) => {
  const database = postgresDatabase(await emptyDatabase())
  const store = await database.open()
  await database.execute(change)
  await expect(store.check()).rejects.toThrow(part)
  await expect(database.open()).rejects.toThrow(part)
})

async function startOnPostgres(): Promise<TestApi & { url: string }> {
  const url = await emptyDatabase()
  return { ...(await startTestApi({ store: await postgresDatabase(url).open() })), url }
}
