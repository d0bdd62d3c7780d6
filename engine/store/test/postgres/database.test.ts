import { describe, expect, test } from 'vitest'
import { postgresDatabase, preparePostgres } from '../../../test/notes/database.ts'
import { definition } from '../../../test/notes/store.ts'
import { createDatabase, emptyDatabase, query } from '../../../test/support/postgres/databases.ts'
import { openStore } from '../../open.ts'

const insert = 'INSERT INTO notes (body, priority, state) VALUES'
const insertKey = "INSERT INTO api_keys (name, start, hash, created_at, expires_at) VALUES ('a', 'note_',"

describe('a row that is inserted by hand:', () => {
  test.for([
    [`${insert} ('', 7, 'done')`, 'notes_body_length'],
    [`${insert} (E'\\u3000', 7, 'done')`, 'notes_body_not_blank'],
    [`${insert} (E'a\\nb', 7, 'done')`, 'notes_body_no_control_characters'],
    [`${insert} ('Ann', 7, 'lost')`, 'notes_state_known'],
    [`${insert} ('Ann', null, 'done')`, 'null value in column "priority"'],
    [`${insert} ('Ann', 9223372036854775808, 'done')`, 'bigint out of range'],
    [
      "INSERT INTO notes (id, body, priority, state) OVERRIDING SYSTEM VALUE VALUES (0, 'Ann', 7, 'done')",
      'notes_id_positive',
    ],
    [
      "INSERT INTO notes (id, body, priority, state) VALUES (5, 'Ann', 7, 'done')",
      'cannot insert a non-DEFAULT value into column "id"',
    ],
    [
      "INSERT INTO api_keys (name, start, hash, created_at) VALUES ('a', 'note_', 'short', now())",
      'api_keys_hash_sha256',
    ],
    ...['infinity', '-infinity', '0044-03-15 BC', '10000-01-01'].map(
      (time) => [`${insertKey} '${'a'.repeat(64)}', now(), '${time}')`, 'api_keys_expires_at_in_range'] as const,
    ),
  ] as const)('%s fails because of %s', async ([statement, rule]) => {
    await expect(query(await notesDatabase(), statement)).rejects.toThrow(rule)
  })
})

test('statements that were planned for a small table use its indexes when it grows', async () => {
  const url = await notesDatabase()
  const add = (count: number) =>
    query(url, `${insert.replace(' VALUES', '')} SELECT 'Ann', 1, 'done' FROM generate_series(1, ${count})`)
  await add(50)
  await query(url, 'ALTER TABLE notes SET (autovacuum_enabled = off); ANALYZE notes')
  const { notes, close } = await openStore(definition, { kind: 'postgres', url })
  async function read(): Promise<void> {
    await notes.get(50_000n)
    await notes.list({ cursor: 50_000n, limit: 20 })
    await notes.list({ state: 'done', cursor: 50_000n, limit: 20 })
  }
  await read()
  await add(100_000)
  await read()
  await close()
  // PostgreSQL adds the statistics of a session when it ends.
  const rowsRead = `SELECT seq_tup_read AS "inTable",
    (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes AS each WHERE each.relid = tables.relid) AS "inIndexes"
    FROM pg_stat_user_tables AS tables WHERE relname = 'notes'`
  await expect.poll(() => query(url, rowsRead)).toEqual([{ inTable: '0', inIndexes: '41' }])
})

test('the counts and a page of one state read only the index by state, and no more of it than they return', async () => {
  const url = await notesDatabase()
  await query(
    url,
    `${insert.replace(' VALUES', '')} SELECT 'Ann', 1, CASE WHEN n <= 50000 THEN 'done' ELSE 'waiting' END FROM generate_series(1, 100000) AS n`,
  )
  await query(url, 'ANALYZE notes')
  const { notes, close } = await openStore(definition, { kind: 'postgres', url })
  await notes.counts()
  expect((await notes.list({ state: 'waiting', limit: 2 })).map(({ id }) => id)).toEqual([50_001n, 50_002n])
  // PostgreSQL adds the statistics of a session when it ends.
  await close()
  const read = "SELECT indexrelname AS index, idx_tup_read AS entries FROM pg_stat_user_indexes WHERE relname = 'notes'"
  await expect
    .poll(() => query(url, `${read} ORDER BY 1`))
    .toEqual([
      { index: 'notes_by_state', entries: '20004' },
      { index: 'notes_pkey', entries: '0' },
    ])
})

test('notes of one batch get ascending ids in the order of the calls, and each read gets its own note', async () => {
  const { notes } = await postgresDatabase(await notesDatabase()).open()
  const bodies = Array.from({ length: 500 }, (_, index) => `note ${index}`)
  const created = await Promise.all(bodies.map((body) => notes.create({ body, priority: 7n, state: 'done' })))
  expect(created.map(({ id }) => id)).toEqual(bodies.map((_, index) => BigInt(index + 1)))
  const reversed = created.toReversed()
  expect(await Promise.all(reversed.map(({ id }) => notes.get(id)))).toEqual(reversed)
})

describe('a database that cannot be used is refused with the reason and without its password:', () => {
  test.for([
    [
      'it does not exist',
      { pathname: '/nowhere' },
      /database "nowhere" does not exist; create it with CREATE DATABASE/,
    ],
    ['it asks for a password that is missing', { password: '' }, /it asks for a password; set PGPASSWORD/],
    ['it has no tables yet', {}, /it has no tables yet: start the service/],
  ] as const)('%s', async ([, change, reason]) => {
    const url = Object.assign(new URL(await emptyDatabase()), change).href
    await expect(preparePostgres(url, { create: false })).rejects.toThrow(reason)
  })

  test.for([
    ['CREATE TABLE notes (x int)', /it has some of the tables, but no table "migrations"; .* choose another database/],
    [
      "CREATE TABLE migrations AS SELECT '9999_future' AS name, 'x' AS hash",
      /migrated by a newer release \(9999_future\)/,
    ],
    [
      "CREATE TABLE migrations AS SELECT '0000_engine_tables' AS name, 'x' AS hash",
      /the migration 0000_engine_tables was changed/,
    ],
  ] as const)('%s', async ([statement, reason]) => {
    const url = await emptyDatabase()
    await query(url, statement)
    await expect(preparePostgres(url)).rejects.toThrow(reason)
    expect(await query(url, "SELECT 1 FROM pg_tables WHERE schemaname = 'public'")).toHaveLength(1)
  })

  test('its encoding is not UTF-8', async () => {
    const url = await createDatabase("ENCODING 'LATIN1' LOCALE 'C'")
    await expect(preparePostgres(url)).rejects.toThrow(/its encoding is LATIN1: make another one/)
  })
})

/** A database with the tables of the service. */
async function notesDatabase(): Promise<string> {
  const url = await emptyDatabase()
  await preparePostgres(url)
  return url
}
