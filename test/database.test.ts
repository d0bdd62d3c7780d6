import { execFile } from 'node:child_process'
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test } from 'vitest'
import { migrate, readMigrations } from '../db/migrate.ts'
import { openTestStore, temporaryFolder } from './helpers.ts'

const root = join(import.meta.dirname, '..')

/** A database of the service, opened as a person with `sqlite3` would. */
function openByHand(): Database.Database {
  const path = join(temporaryFolder(), 'petstore.db')
  openTestStore(path)
  return openDatabase(path)
}

function openDatabase(path = ':memory:'): Database.Database {
  const database = new Database(path)
  onTestFinished(() => void database.close())
  return database
}

function migrationsOf(files: Record<string, string>) {
  const folder = temporaryFolder()
  for (const [name, sql] of Object.entries(files)) writeFileSync(join(folder, name), sql)
  return readMigrations(pathToFileURL(folder))
}

describe('migrations', () => {
  test('run in the order of their names, each once', () => {
    const database = openDatabase()
    const [first, second] = [{ '0000_a.sql': 'CREATE TABLE a (x)' }, { '0001_b.sql': 'ALTER TABLE a ADD COLUMN y' }]
    migrate(database, migrationsOf(first))
    migrate(database, migrationsOf({ ...second, ...first }))
    migrate(database, migrationsOf({ ...first, ...second }))
    expect(database.prepare('SELECT name FROM migrations').pluck().all()).toEqual(['0000_a', '0001_b'])
  })

  test('a migration that fails undoes all of that start', () => {
    const database = openDatabase()
    const migrations = migrationsOf({ '0000_a.sql': 'CREATE TABLE a (x)', '0001_b.sql': 'CREATE TABLE a (x)' })
    expect(() => migrate(database, migrations)).toThrow('already exists')
    expect(database.prepare('SELECT count(*) FROM sqlite_schema').pluck().get()).toBe(0)
  })

  test('a rebuild of a parent table keeps the children that would cascade', () => {
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

  test('a migration that leaves children without parents is undone', () => {
    const database = openDatabase()
    const first = {
      '0000_a.sql':
        'CREATE TABLE parents (id INTEGER PRIMARY KEY); CREATE TABLE children (parent INTEGER REFERENCES parents); INSERT INTO parents VALUES (1); INSERT INTO children VALUES (1)',
    }
    migrate(database, migrationsOf(first))
    const broken = migrationsOf({ ...first, '0001_b.sql': 'DELETE FROM parents' })
    expect(() => migrate(database, broken)).toThrow('left rows that refer to rows which are gone')
    expect(database.prepare('SELECT count(*) FROM parents').pluck().get()).toBe(1)
  })

  test('what another program broke before stops no start and no migration', () => {
    const database = openDatabase()
    const first = {
      '0000_a.sql':
        'CREATE TABLE parents (id INTEGER PRIMARY KEY); CREATE TABLE children (parent INTEGER REFERENCES parents); INSERT INTO parents VALUES (1); INSERT INTO children VALUES (1)',
    }
    migrate(database, migrationsOf(first))
    database.exec('PRAGMA foreign_keys = OFF; DELETE FROM parents')
    migrate(database, migrationsOf(first))
    migrate(database, migrationsOf({ ...first, '0001_b.sql': 'CREATE TABLE b (x)' }))
    expect(database.prepare('SELECT name FROM migrations').pluck().all()).toEqual(['0000_a', '0001_b'])
  })

  test('the schema has not drifted from them (npm run db:generate drafts what is missing)', async () => {
    const folder = temporaryFolder()
    cpSync(join(root, 'db/sqlite/migrations'), join(folder, 'migrations'), { recursive: true })
    const before = readdirSync(join(folder, 'migrations'))
    const out = relative(root, join(folder, 'migrations'))
    const words = ['generate', '--dialect=sqlite', '--schema=./db/sqlite/schema.ts', `--out=${out}`]
    const { stdout } = await promisify(execFile)(join(root, 'node_modules/.bin/drizzle-kit'), words, { cwd: root })
    expect(stdout).toContain('No schema changes')
    expect(readdirSync(join(folder, 'migrations'))).toEqual(before)
  })
})

describe('a pet added by hand', () => {
  const insert = 'INSERT INTO pets (name, category_id, status) VALUES (?, ?, ?)'

  test.for([
    ['Rex', 7, 'sold'],
    [' Rex ', -1, 'available'],
    ['𝒳'.repeat(255), 0, 'pending'],
  ] as const)('%j is taken', (values) => {
    expect(
      openByHand()
        .prepare(insert)
        .run(...values).changes,
    ).toBe(1)
  })

  test.for([
    ['', 7, 'sold', 'pets_name_length'],
    ['x'.repeat(256), 7, 'sold', 'pets_name_length'],
    ['\u00a0 \u3000', 7, 'sold', 'pets_name_not_blank'],
    ['a\nb', 7, 'sold', 'pets_name_no_control_characters'],
    ['a\u0000b', 7, 'sold', 'pets_name_no_control_characters'],
    ['a\u009f', 7, 'sold', 'pets_name_no_control_characters'],
    ['Rex', 7, 'lost', 'pets_status_known'],
    ['Rex', 7.5, 'sold', 'cannot store REAL value in INTEGER column'],
    ['Rex', 'seven', 'sold', 'cannot store TEXT value in INTEGER column'],
    ['Rex', null, 'sold', 'NOT NULL'],
  ] as const)('%j is refused', ([name, categoryId, status, rule]) => {
    expect(() => openByHand().prepare(insert).run(name, categoryId, status)).toThrow(rule)
  })

  test('is seen by the service at once', async () => {
    const path = join(temporaryFolder(), 'petstore.db')
    const store = openTestStore(path)
    openDatabase(path).prepare(insert).run('Rex', 7, 'sold')
    expect(await store.pets.list({ limit: 10, cursor: 0n })).toEqual([
      { id: 1n, name: 'Rex', categoryId: 7n, status: 'sold' },
    ])
  })
})

test('an id is not given again after its pet was deleted by hand', async () => {
  const path = join(temporaryFolder(), 'petstore.db')
  const store = openTestStore(path)
  const pet = { name: 'Rex', categoryId: 7n, status: 'sold' } as const
  await store.pets.create(pet)
  openDatabase(path).exec('DELETE FROM pets')
  expect((await store.pets.create(pet)).id).toBe(2n)
})

test('an index serves the list with a status, in order, without sorting', () => {
  const plan = openByHand()
    .prepare("EXPLAIN QUERY PLAN SELECT * FROM pets WHERE status = 'sold' AND id > 5 ORDER BY id LIMIT 20")
    .all()
  expect(plan).toMatchObject([{ detail: 'SEARCH pets USING INDEX pets_by_status (status=? AND rowid>?)' }])
})

test('migration files and the snapshot drizzle-kit compares with are in step', () => {
  const folder = join(root, 'db/sqlite/migrations')
  const { entries } = JSON.parse(readFileSync(join(folder, 'meta/_journal.json'), 'utf8'))
  const files = readdirSync(folder).filter((file) => file.endsWith('.sql'))
  expect(entries.map(({ tag }: { tag: string }) => `${tag}.sql`)).toEqual(files)
})
