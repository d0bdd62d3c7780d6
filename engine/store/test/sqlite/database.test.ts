import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openFileStore, prepareSqlite } from '../../../test/notes/database.ts'
import { maxCount, notes } from '../../../test/notes/tables.ts'
import { openDatabase } from '../../../test/support/database.ts'
import { fastest } from '../../../test/support/fastest.ts'
import { temporaryFolder } from '../../../test/support/temporary.ts'
import { int64 } from '../../collection/schema.ts'
import { checkPages, connect, connectToRead, using } from '../../sqlite/file/connection.ts'
import { countsStatement, insertInto, sqlTextOf } from '../../sqlite/statements.ts'

/** Opens a database of the service as the `sqlite3` shell does. */
function openNotes(): Database.Database {
  const path = join(temporaryFolder(), 'notes.db')
  prepareSqlite(path)
  return openDatabase(path)
}

const insertNote = 'INSERT INTO notes (body, priority, state) VALUES'

/** An API key whose hash consists of this letter. */
function insertKey(name: string, letter: string, revokedAt = 'NULL', hash = letter.repeat(64)): string {
  return `INSERT INTO api_keys (name, start, hash, created_at, revoked_at)
    VALUES ('${name}', 'note_', '${hash}', '2026-01-01T00:00:00.000Z', ${revokedAt});`
}

test.for([
  [`${insertNote} ('', 7, 'done')`, 'notes_body_length'],
  [`${insertNote} ('\u00a0 \u3000', 7, 'done')`, 'notes_body_not_blank'],
  [`${insertNote} ('a\nb', 7, 'done')`, 'notes_body_no_control_characters'],
  [`${insertNote} ('a' || char(0) || 'b', 7, 'done')`, 'notes_body_no_control_characters'],
  ...['', 'Done', 'done ', 'lost'].map((state) => [`${insertNote} ('Ann', 7, '${state}')`, 'notes_state_known']),
  [`${insertNote} ('Ann', 7.5, 'done')`, 'cannot store REAL value in INTEGER column'],
  [`${insertNote} ('Ann', 'seven', 'done')`, 'cannot store TEXT value in INTEGER column'],
  [`${insertNote} ('Ann', NULL, 'done')`, 'NOT NULL'],
  ...[0, -1].map((id) => [`INSERT INTO notes VALUES (${id}, 'Ann', 7, 'done', NULL, NULL)`, 'notes_id_positive']),
  [insertKey('shop', 'a', 'NULL', 'short'), 'api_keys_hash_sha256'],
  [insertKey('shop', 'a') + insertKey('till', 'a'), 'UNIQUE constraint failed: api_keys.hash'],
  [insertKey('shop', 'a') + insertKey('shop', 'b'), 'UNIQUE constraint failed: api_keys.name'],
] as [string, string][])('a row that is inserted by hand is refused: %s', ([sql, rule]) => {
  const database = openNotes()
  expect(() => database.exec(sql)).toThrow(rule)
  database.exec(insertKey('test', 'c', "'2026-01-01T00:00:00.000Z'") + insertKey('test', 'd'))
})

test('the name of a table may have an apostrophe', () => {
  const database = new Database(':memory:')
  database.defaultSafeIntegers()
  database.exec(`CREATE TABLE "o'clock" (id INTEGER PRIMARY KEY AUTOINCREMENT, body TEXT)`)
  const hours = sqliteTable("o'clock", { id: int64('id').primaryKey({ autoIncrement: true }), body: text() })
  expect(insertInto(hours)(database)('one')).toEqual({ id: 1n })
})

test('the recipe that renames a field changes its name in the history, and no text', async () => {
  const path = join(temporaryFolder(), 'notes.db')
  const store = openFileStore(path)
  const { id } = await store.notes.create({ body: 'say "priority":', priority: 7n, state: 'open' })
  await store.notes.update({ id, set: { priority: 8n } })
  await store.notes.remove({ id })
  await store.close()
  const [sql = ''] =
    /^UPDATE history$[^;]+;/m.exec(readFileSync(join(import.meta.dirname, '../../../README.md'), 'utf8')) ?? []
  const database = openDatabase(path)
  database.exec(sql)
  const entries = database.prepare<[], { before: string; after: string }>('SELECT before, after FROM history').all()
  expect(entries.map(({ before, after }) => [JSON.parse(before), JSON.parse(after)])).toEqual([
    [{ urgency: 7 }, { urgency: 8 }],
    [{ body: 'say "priority":', urgency: 8, state: 'open' }, null],
  ])
})

describe('a time inserted by hand', () => {
  const columns = ['created_at', 'expires_at', 'revoked_at', 'last_used_at']

  test('is accepted in the format of the service, to the millisecond and in every year of four digits', () => {
    const database = openNotes()
    database.exec(insertKey('shop', 'a'))
    const set = database.prepare(`UPDATE api_keys SET ${columns.map((column) => `${column} = :time`).join(', ')}`)
    const [start, end] = [Date.parse('0000-01-01T00:00:00Z'), Date.parse('9999-12-31T23:59:59.999Z')]
    const times = [start, end, ...Array.from({ length: 2_000 }, (_, n) => n), ...sampleOf(start, end, 2_000)]
    database.exec('BEGIN')
    for (const time of times) expect(set.run({ time: new Date(time).toISOString() }).changes).toBe(1)
  })

  test.for([
    ...['yesterday', 'now', '', '9999', '2026-11-20', '2026-11-20 01:02:03', '2026-11-20T01:02:03Z'],
    ...['2026-11-20T01:02:03.4567Z', '2026-11-20T01:02:03.456', '2026-11-20T01:02:03.456z'],
    ...['2026-11-20T01:02:03.456+00:00', '2026-02-30T00:00:00.000Z', '2026-11-20T24:00:00.000Z'],
    ...['-0001-11-20T00:00:00.000Z', '+012026-01-01T00:00:00.000Z', ' 2026-11-20T00:00:00.000Z'],
  ])('%j is refused in every column', (time) => {
    const database = openNotes()
    database.exec(insertKey('shop', 'a'))
    for (const column of columns) {
      const set = database.prepare(`UPDATE api_keys SET ${column} = ?`)
      expect(() => set.run(time)).toThrow(`CHECK constraint failed: api_keys_${column}_iso8601`)
    }
    const insert = database.prepare(
      "INSERT INTO idempotency_keys (api_key_id, key, operation, fingerprint, result, created_at) VALUES (1, 'a', 'notes.create', ?, '{}', ?)",
    )
    expect(() => insert.run('f'.repeat(64), time)).toThrow('idempotency_keys_created_at_iso8601')
  })

  function sampleOf(start: number, end: number, count: number): number[] {
    return Array.from({ length: count }, (_, n) => Math.floor(start + ((end - start) * (n + 0.618)) / count))
  }
})

test('connect sets its own settings and does not create a file', () => {
  const path = join(temporaryFolder(), 'notes.db')
  expect(() => connect(path, { busyTimeout: 0 })).toThrow('unable to open database file')
  prepareSqlite(path)
  const connection = connect(path, { busyTimeout: 123 })
  const reader = connect(path, { busyTimeout: 0, readonly: true })
  onTestFinished(() => {
    connection.close()
    reader.close()
  })
  const names = ['busy_timeout', 'foreign_keys', 'journal_size_limit', 'mmap_size', 'synchronous', 'trusted_schema']
  expect(Object.fromEntries(names.map((name) => [name, connection.pragma(name, { simple: true })]))).toEqual({
    busy_timeout: 123n,
    foreign_keys: 1n,
    journal_size_limit: 67_108_864n,
    mmap_size: 0n,
    synchronous: 2n,
    trusted_schema: 0n,
  })
  expect(connection.prepare('SELECT 9007199254740993').pluck().get()).toBe(9_007_199_254_740_993n)
  expect(() => reader.exec('CREATE TABLE x (y)')).toThrow('readonly')
})

test('the check of the pages leaves out the CHECK constraints, whether or not another process uses the database', () => {
  const path = join(temporaryFolder(), 'notes.db')
  prepareSqlite(path)
  const check = () => using(connectToRead(path, 0), (connection) => checkPages(connection, 'quick_check'))
  using(new Database(path), (database) => {
    database.pragma('ignore_check_constraints = ON')
    database.exec("INSERT INTO notes (body, priority, state) VALUES ('', 7, 'done')")
    expect(check).not.toThrow()
  })
  expect(check).not.toThrow()
})

test('the counts read only the index by state', () => {
  // The type of the rows of EXPLAIN QUERY PLAN (https://sqlite.org/eqp.html).
  const counts = sqlTextOf(countsStatement(notes, 'state', maxCount))
  const plan = openNotes().prepare<[], { detail: string }>(`EXPLAIN QUERY PLAN ${counts}`).all()
  const searches = plan.map(({ detail }) => detail).filter((detail) => / notes\b/.test(detail))
  expect(searches).toEqual(Array(3).fill('SEARCH notes USING COVERING INDEX notes_by_state (state=?)'))
})

test('the counts do not read all of the 200,000 notes of a state', async () => {
  const path = join(temporaryFolder(), 'notes.db')
  const store = openFileStore(path)
  const database = openDatabase(path)
  database.exec(`
    WITH RECURSIVE counter (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counter WHERE n < 200000)
    INSERT INTO notes (body, priority, state) SELECT 'Ann', 1, 'done' FROM counter
  `)
  const countAll = database.prepare("SELECT count(*) FROM notes WHERE state = 'done'")
  expect(await fastest(() => store.notes.counts())).toBeLessThan((await fastest(() => countAll.get())) / 4)
})

test('a write with a value that cannot be copied to the writer thread fails alone', async () => {
  const store = openFileStore(join(temporaryFolder(), 'notes.db'))
  const cycle: unknown[] = []
  cycle.push({ cycle })
  const bodies: unknown[] = ['a', () => 'b', 'c', Symbol('d'), 'e', [{ f: () => 'f' }], new Map(), cycle]
  // A product may pass on what its types do not tell.
  const creates = bodies.map((body) => store.notes.create({ body: body as string, priority: 1n, state: 'open' }))
  const settled = await Promise.allSettled(creates)
  const reasons = settled.map((each) => (each.status === 'rejected' ? String(each.reason) : ''))
  const refused = 'TypeError: A value of notes.create cannot be copied to the writer thread.'
  expect(reasons).toEqual(['', refused, '', refused, '', refused, refused, refused])
  expect((await store.notes.list({ limit: 9 })).map(({ body }) => body)).toEqual(['a', 'c', 'e'])
})
