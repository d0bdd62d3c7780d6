import { describe, expect, test } from 'vitest'
import { note, postgresDatabase } from '../../../test/notes/database.ts'
import { emptyDatabase, query } from '../../../test/support/postgres/databases.ts'
import { OtherRelease } from '../../collection/errors.ts'

test('a database that another release has migrated is not ready', async () => {
  const { store, url } = await openOnPostgres()
  await store.check()
  await query(url, "INSERT INTO migrations VALUES ('9999_future', 'x', now())")
  await expect(store.check()).rejects.toThrow(OtherRelease)
})

test('ids of rows that were copied with them are skipped at once, also by creates that share a transaction', async () => {
  const { store, url } = await openOnPostgres()
  const copy = (from: number, to: number) =>
    query(
      url,
      `INSERT INTO notes (id, body, priority, state) OVERRIDING SYSTEM VALUE
        SELECT n, 'copied', 1, 'done' FROM generate_series(${from}, ${to}) AS n`,
    )
  await copy(1, 300)
  const creates = Array.from({ length: 20 }, (_, index) =>
    store.notes.create({ ...note }, index % 2 ? { owner: 1n, key: `${index}` } : undefined),
  )
  const ids = (await Promise.all(creates)).map(({ id }) => Number(id))
  expect(new Set(ids).size).toBe(20)
  expect(Math.min(...ids)).toBeGreaterThan(300)
  const newest = Math.max(...ids)
  await copy(newest + 1, newest + 50)
  expect(await store.notes.create({ ...note })).toMatchObject({ id: BigInt(newest + 51) })
})

test('ids of entries of the history that were copied with them are skipped', async () => {
  const { store, url } = await openOnPostgres()
  for (const _ of '12') await store.notes.create({ ...note })
  // The sequence of the notes must stay as it is.
  await query(url, 'DELETE FROM notes WHERE id = 2')
  await query(
    url,
    `INSERT INTO history (id, at, collection, row_id, before) OVERRIDING SYSTEM VALUE
      SELECT n, now(), 'notes', 1, '{}' FROM generate_series(1, 300) AS n`,
  )
  expect(await store.notes.update({ id: 1n, set: { state: 'done' } })).toMatchObject({ state: 'done' })
})

const changed = { name: 'StoreUnavailable', failure: 'schema', isRetryable: false }

describe('a create that fails because a newer release has changed the schema says that no retry can succeed:', () => {
  test.for([
    ['a required column without a default', 'ALTER TABLE notes ADD COLUMN owner text NOT NULL', note],
    ['a stricter rule', "ALTER TABLE notes ADD CONSTRAINT notes_body_short CHECK (body <> 'Call Ann')", note],
    ['a unique rule', 'CREATE UNIQUE INDEX notes_body_once ON notes (body)', { ...note, body: 'Bea' }],
    ['a shorter text', 'ALTER TABLE notes ALTER body TYPE varchar(2)', note],
    ['a smaller number', 'ALTER TABLE notes ALTER priority TYPE smallint', { ...note, priority: 70_000n }],
    ['another type', 'ALTER TABLE notes ALTER priority TYPE uuid USING gen_random_uuid()', note],
    ['no such column', 'ALTER TABLE notes RENAME priority TO rank', note],
  ] as const)('%s', async ([, statement, newNote]) => {
    const { store, url } = await openOnPostgres()
    if (statement.includes('UNIQUE')) await store.notes.create(newNote)
    await query(url, 'ALTER TABLE notes DROP CONSTRAINT notes_body_length, DROP CONSTRAINT notes_body_not_blank')
    await query(
      url,
      statement.includes('uuid') ? `ALTER TABLE notes ALTER priority DROP NOT NULL; ${statement}` : statement,
    )
    for (const caller of [undefined, { owner: 1n, key: 'a' }])
      await expect(store.notes.create(newNote, caller)).rejects.toMatchObject(changed)
  })

  test('a required column of the idempotency keys fails only the creates with a key, also within one batch', async () => {
    const { store, url } = await openOnPostgres()
    await query(url, 'ALTER TABLE idempotency_keys ADD COLUMN owner text NOT NULL')
    const creates = Array.from({ length: 10 }, (_, n) =>
      store.notes.create({ ...note }, n % 2 ? { owner: 1n, key: `${n}` } : undefined),
    )
    const outcomes = Array.from({ length: 10 }, (_, n) => (n % 2 ? { reason: changed } : { status: 'fulfilled' }))
    expect(await Promise.allSettled(creates)).toMatchObject(outcomes)
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
  ['a missing NOT NULL', 'ALTER TABLE notes ALTER body DROP NOT NULL', 'notes lacks NOT NULL of body'],
  ['an added NOT NULL', 'ALTER TABLE notes ALTER due_at SET NOT NULL', 'notes lacks NULL of due_at'],
  [
    'a missing foreign key',
    'ALTER TABLE notes DROP CONSTRAINT notes_book_id_books_id_fk',
    'notes lacks FOREIGN KEY (book_id) REFERENCES books',
  ],
] as const)('%s makes the store unready, and stops the next start', async ([, change, part]) => {
  const database = postgresDatabase(await emptyDatabase())
  const store = await database.open()
  await database.execute(change)
  await expect(store.check()).rejects.toThrow(part)
  await expect(database.open()).rejects.toThrow(part)
})

async function openOnPostgres() {
  const url = await emptyDatabase()
  return { store: await postgresDatabase(url).open(), url }
}
