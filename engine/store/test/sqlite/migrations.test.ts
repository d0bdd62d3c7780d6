import { execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, globSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import type Database from 'better-sqlite3'
import { getTableName, is, Table } from 'drizzle-orm'
import { describe, expect, onTestFinished, test } from 'vitest'
import postgresConfig from '../../../../db/drizzle.postgres.config.ts'
import sqliteConfig from '../../../../drizzle.config.ts'
import { openDatabase } from '../../../../test/support/database.ts'
import { onPostgres, onSqlite, prepareSqlite } from '../../../../test/support/engines.ts'
import { isLongForm } from '../../../../test/support/long-form.ts'
import { temporaryFolder } from '../../../../test/support/temporary.ts'
import { readMigrations } from '../../database/migrations.ts'
import { tablesOf as tablesOnPostgres } from '../../postgres/table.ts'
import { tablesOf as tablesOnSqlite } from '../../sqlite/collection.ts'
import { migrate } from '../../sqlite/migrate.ts'

const root = join(import.meta.dirname, '../../../..')
const kinds = ['sqlite', 'postgres'] as const
const configs = { sqlite: sqliteConfig, postgres: postgresConfig }
const migrations = readMigrations([pathToFileURL(join(root, 'db/migrations/sqlite'))])

const family =
  'CREATE TABLE parents (id INTEGER PRIMARY KEY); CREATE TABLE children (parent INTEGER REFERENCES parents); INSERT INTO parents VALUES (1); INSERT INTO children VALUES (1)'

describe('processes that start at the same moment', () => {
  test('migrate a new database once, and all of them can use it', async () => {
    const folder = temporaryFolder()
    const prepareTogether = await startPreparers(8, folder)
    for (let round = 0; round < (isLongForm ? 100 : 15); round++) {
      const path = join(folder, `${round}.db`)
      // The service treats an empty file like a missing one.
      if (round % 2 === 0) writeFileSync(path, '')
      expect(await prepareTogether(path)).toEqual(Array(8).fill('usable'))
      const database = openDatabase(path)
      expect(database.prepare('SELECT name, hash FROM migrations ORDER BY name').all()).toEqual(
        migrations.map(({ name, hash }) => ({ name, hash })),
      )
      expect(database.pragma('journal_mode', { simple: true })).toBe('wal')
    }
  })
})

describe('the migrations', () => {
  test('run once each, in the order of their names', () => {
    const database = openDatabase()
    const [first, second] = [{ '0000_a.sql': 'CREATE TABLE a (x)' }, { '0001_b.sql': 'ALTER TABLE a ADD COLUMN y' }]
    migrate(database, migrationsOf(first))
    migrate(database, migrationsOf({ ...second, ...first }))
    migrate(database, migrationsOf({ ...first, ...second }))
    expect(database.prepare('SELECT name FROM migrations').pluck().all()).toEqual(['0000_a', '0001_b'])
  })

  test('are rolled back together if one of them fails', () => {
    const database = openDatabase()
    const migrations = migrationsOf({ '0000_a.sql': 'CREATE TABLE a (x)', '0001_b.sql': 'CREATE TABLE a (x)' })
    expect(() => migrate(database, migrations)).toThrow(
      /: its migration 0001_b fails: table a already exists; correct its file if it is new, [^\n]+\.$/,
    )
    expect(database.prepare('SELECT count(*) FROM sqlite_schema').pluck().get()).toBe(0)
  })

  test('do not delete child rows when they rebuild a parent table with ON DELETE CASCADE', () => {
    const database = openDatabase()
    const parents = 'CREATE TABLE parents (id INTEGER PRIMARY KEY);'
    const children = 'CREATE TABLE children (parent INTEGER REFERENCES parents ON DELETE CASCADE);'
    const first = {
      '0000_a.sql': `${parents}${children} INSERT INTO parents VALUES (1); INSERT INTO children VALUES (1), (1)`,
    }
    const rebuild =
      'CREATE TABLE fresh (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO fresh (id) SELECT id FROM parents; DROP TABLE parents; ALTER TABLE fresh RENAME TO parents'
    migrate(database, migrationsOf(first))
    migrate(database, migrationsOf({ ...first, '0001_b.sql': rebuild }))
    expect(database.prepare('SELECT count(*) FROM children').pluck().get()).toBe(2)
    expect(database.pragma('foreign_keys', { simple: true })).toBe(1)
  })

  test('are rolled back if they leave child rows without a parent', () => {
    const database = openDatabase()
    const first = { '0000_a.sql': family }
    migrate(database, migrationsOf(first))
    const broken = migrationsOf({ ...first, '0001_b.sql': 'DELETE FROM parents' })
    expect(() => migrate(database, broken)).toThrow('left rows that refer to deleted rows')
    expect(database.prepare('SELECT count(*) FROM parents').pluck().get()).toBe(1)
  })

  test('run on a database in which another program has broken references', () => {
    const database = openDatabase()
    const first = { '0000_a.sql': family }
    migrate(database, migrationsOf(first))
    database.exec('PRAGMA foreign_keys = OFF; DELETE FROM parents')
    migrate(database, migrationsOf(first))
    migrate(database, migrationsOf({ ...first, '0001_b.sql': 'CREATE TABLE b (x)' }))
    expect(database.prepare('SELECT name FROM migrations').pluck().all()).toEqual(['0000_a', '0001_b'])
  })

  test('are refused on a database of a newer release, and the message names the unknown migration', () => {
    const database = openDatabase()
    migrate(database, [...migrations, { name: '9999_future', sql: 'CREATE TABLE future (x)', hash: 'x' }])
    expect(() => migrate(database, migrations)).toThrow(
      /: it was migrated by a newer release \(9999_future\); [^\n]+\.$/,
    )
  })

  test('are refused if one was changed after it was applied', () => {
    const database = openDatabase()
    const applied = { name: '0000_a', sql: 'CREATE TABLE a (x)', hash: 'as applied' }
    migrate(database, [applied])
    expect(() => migrate(database, [{ ...applied, hash: 'as changed' }])).toThrow(
      /: the migration 0000_a was changed after it was applied; [^\n]+\.$/,
    )
  })

  test('have the same hash in a checkout with other line endings', () => {
    const [unix, windows] = ['CREATE TABLE a (\n  x\n)\n', 'CREATE TABLE a (\r\n  x\r\n)\r\n'].map((sql) => {
      const folder = temporaryFolder()
      writeFileSync(join(folder, '0000_a.sql'), sql)
      return readMigrations([pathToFileURL(folder)])
    })
    expect(windows).toEqual(unix)
  })

  test('leave foreign keys enforced if one of them fails', () => {
    const database = openDatabase()
    expect(() => migrate(database, [{ name: '0000_a', sql: 'nonsense', hash: 'x' }])).toThrow('syntax error')
    expect(database.pragma('foreign_keys', { simple: true })).toBe(1)
    expect(database.inTransaction).toBe(false)
  })

  test('do not change a database that is up to date', () => {
    const path = join(temporaryFolder(), 'petstore.db')
    prepareSqlite(path)
    const [bytes, { mtimeMs }] = [readFileSync(path), statSync(path)]
    prepareSqlite(path)
    expect(readFileSync(path).equals(bytes)).toBe(true)
    expect(statSync(path).mtimeMs).toBe(mtimeMs)
  })
})

describe('the migrated tables', () => {
  test('and the journal have the columns, indexes and checks of the schema', async () => {
    const drizzleKit = join(root, 'node_modules/.bin/drizzle-kit')
    // The journal is no table of a resource, so that migrations are drafted without it.
    const schema = `${configs.sqlite.schema}`.replace('}', ',sqlite/migrate}')
    const words = ['export', '--dialect=sqlite', `--schema=${schema}`]
    const { stdout } = await promisify(execFile)(drizzleKit, words, { cwd: root })
    const drafted = openDatabase()
    drafted.exec(stdout)
    expect(describeTables(migrated())).toEqual(describeTables(drafted))
  })

  test.for(kinds)('match the %s schema (npm run db:generate drafts a missing migration)', async (database) => {
    const { dialect, schema } = configs[database]
    const folder = temporaryFolder()
    cpSync(join(root, `db/migrations/${database}`), join(folder, 'migrations'), { recursive: true })
    const before = readdirSync(join(folder, 'migrations'))
    const out = relative(root, join(folder, 'migrations'))
    const words = ['generate', `--dialect=${dialect}`, `--schema=${schema}`, `--out=${out}`]
    const { stdout } = await promisify(execFile)(join(root, 'node_modules/.bin/drizzle-kit'), words, { cwd: root })
    expect(stdout).toContain('No schema changes')
    expect(readdirSync(join(folder, 'migrations'))).toEqual(before)
  })

  test('are STRICT', () => {
    const lax = migrated()
      .prepare("SELECT name FROM pragma_table_list WHERE type = 'table' AND NOT strict AND name NOT LIKE 'sqlite_%'")
      .pluck()
    expect(lax.all()).toEqual([])
  })
})

describe('the migration that constrains times', () => {
  const epoch = '1970-01-01T00:00:00.000Z'
  const created = '2026-01-01T00:00:00.000Z'

  test.for([
    ['2027-01-01T00:00:00.000Z', '2027-01-01T00:00:00.000Z'],
    ['2027-01-01', '2027-01-01T00:00:00.000Z'],
    ['2027-01-01 12:30:00', '2027-01-01T12:30:00.000Z'],
    ['2027-01-01T12:30:00+02:00', '2027-01-01T10:30:00.000Z'],
    [null, null],
    ['yesterday', epoch],
    ['Jan 1 2027', epoch],
    ['now', epoch],
    ['9999', epoch],
    ['', epoch],
    ['+012027-01-01T00:00:00.000Z', epoch],
  ] as const)('turns the expiry %j into %j', ([before, after]) => {
    const [key] = migrateKeys({ created_at: created, expires_at: before })
    expect(key).toMatchObject({ created_at: created, expires_at: after, revoked_at: null, last_used_at: null })
  })

  test('makes keys with other unreadable times invalid', () => {
    const [unreadableCreated, unreadableRevoked, unreadableUsed] = migrateKeys(
      { created_at: 'now', expires_at: null },
      { created_at: created, revoked_at: 'today' },
      { created_at: created, last_used_at: 'today' },
    )
    expect(unreadableCreated).toMatchObject({ created_at: epoch, expires_at: epoch })
    expect(unreadableRevoked).toMatchObject({ created_at: created, revoked_at: epoch })
    expect(unreadableUsed).toMatchObject({ created_at: created, expires_at: null, last_used_at: null })
  })

  test('keeps idempotency keys, makes unreadable ones expire, and does not reuse the id of a deleted API key', () => {
    const database = beforeIt()
    insertKey(database, { created_at: created })
    insertKey(database, { created_at: created })
    database.exec(`
      INSERT INTO idempotency_keys (api_key_id, key, fingerprint, pet_id, created_at) VALUES
        (1, 'a', '${'f'.repeat(64)}', 7, '${created}'), (1, 'b', '${'f'.repeat(64)}', 8, 'today');
      DELETE FROM api_keys WHERE id = 2`)
    migrate(database, migrations)
    expect(
      database.prepare('SELECT id, api_key_id, key, result, created_at FROM idempotency_keys ORDER BY id').raw().all(),
    ).toEqual([
      [1, 1, 'a', '{"id":7}', created],
      [2, 1, 'b', '{"id":8}', epoch],
    ])
    insertKey(database, { created_at: created })
    expect(database.prepare('SELECT id FROM api_keys ORDER BY id').pluck().all()).toEqual([1, 3])
  })

  function beforeIt(): Database.Database {
    const database = openDatabase()
    const index = migrations.findIndex(({ name }) => name === '0003_readable_times')
    migrate(database, migrations.slice(0, index))
    return database
  }

  function insertKey(database: Database.Database, times: Record<string, string | null>): void {
    const row = { expires_at: null, revoked_at: null, last_used_at: null, ...times }
    database
      .prepare(`
        INSERT INTO api_keys (name, start, hash, created_at, expires_at, revoked_at, last_used_at)
        VALUES (hex(randomblob(8)), 'pet_', hex(randomblob(32)), :created_at, :expires_at, :revoked_at, :last_used_at)`)
      .run(row)
  }

  function migrateKeys(...keys: Record<string, string | null>[]): unknown[] {
    const database = beforeIt()
    for (const key of keys) insertKey(database, key)
    migrate(database, migrations)
    return database.prepare('SELECT * FROM api_keys ORDER BY id').all()
  }
})

test.for(kinds)('drizzle-kit reads every table that %s needs, and no other', async (database) => {
  const files = globSync(String(configs[database].schema), { cwd: root })
  const modules = await Promise.all(files.map((file) => import(pathToFileURL(join(root, file)).href)))
  const found = modules.flatMap((module) => Object.values(module)).filter((value) => is(value, Table))
  const tables = database === 'sqlite' ? tablesOnSqlite(onSqlite.collections) : tablesOnPostgres(onPostgres.collections)
  expect(found.map(getTableName).toSorted(), `The tables are in ${configs[database].schema}.`).toEqual(
    tables.map(getTableName).toSorted(),
  )
})

function migrationsOf(files: Record<string, string>) {
  const folder = temporaryFolder()
  for (const [name, sql] of Object.entries(files)) writeFileSync(join(folder, name), sql)
  return readMigrations([pathToFileURL(folder)])
}

function migrated(): Database.Database {
  const database = openDatabase()
  migrate(database, migrations)
  return database
}

/** Starts processes that wait for a path and then prepare the database there at the same moment. */
async function startPreparers(count: number, folder: string): Promise<(path: string) => Promise<string[]>> {
  const script = join(folder, 'prepare.mjs')
  const module = pathToFileURL(join(root, 'test/support/engines.ts')).href
  writeFileSync(
    script,
    `import { prepareSqlite } from ${JSON.stringify(module)}
    process.on('message', (path) => {
      try {
        prepareSqlite(path)
        process.send('usable')
      } catch (error) {
        process.send(error.message)
      }
    })
    process.send('waiting')`,
  )
  const fastStart = pathToFileURL(join(root, 'engine/store/fast-start.mjs')).href
  const preparers = Array.from({ length: count }, () => {
    const child = fork(script, { execArgv: ['--import', fastStart], env: { PATH: process.env.PATH } })
    const ended = once(child, 'exit').then(([code, signal]) => [`ended with ${code ?? signal}`])
    const answer = async () => String((await Promise.race([once(child, 'message'), ended]))[0])
    return { child, ended, answer }
  })
  onTestFinished(async () => {
    for (const { child } of preparers) child.kill('SIGKILL')
    await Promise.all(preparers.map(({ ended }) => ended))
  })
  await Promise.all(preparers.map(({ answer }) => answer()))
  return async (path) => {
    const answers = preparers.map(({ answer }) => answer())
    for (const { child } of preparers) child.send(path)
    return Promise.all(answers)
  }
}

/** Describes the tables of the schema without the layout and quotes of their SQL. */
function describeTables(database: Database.Database): object[] {
  const tables = database
    .prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
    .all() as { name: string; sql: string }[]
  return tables.map(({ name, sql }) => ({
    name,
    // A primary key is NOT NULL, also without the keyword.
    columns: database
      .prepare('SELECT name, upper(type), "notnull" OR pk AS required, dflt_value, pk FROM pragma_table_info(?)')
      .all(name),
    references: database
      .prepare('SELECT "from", "table", "to", on_update, on_delete FROM pragma_foreign_key_list(?)')
      .all(name),
    isAutoincrement: sql.includes('AUTOINCREMENT'),
    // A column that was added later has its checks before those of the table.
    checks: [...sql.matchAll(/CONSTRAINT "?(\w+)"? CHECK ?\((.*)\)/g)]
      .map(([, check, rule]) => `${check}: ${rule}`)
      .toSorted(),
    indexes: database
      .prepare(
        "SELECT replace(replace(sql, '`', ''), ', ', ',') FROM sqlite_schema WHERE type = 'index' AND tbl_name = ? ORDER BY name",
      )
      .pluck()
      .all(name),
  }))
}
