import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { onSqlite, prepareSqlite } from '../../../test/notes/database.ts'
import { openDatabase } from '../../../test/support/database.ts'
import { isLongForm } from '../../../test/support/long-form.ts'
import { temporaryFolder } from '../../../test/support/temporary.ts'
import { readMigrations } from '../../database/migrations.ts'
import { migrate } from '../../sqlite/migrate.ts'

const { migrations } = onSqlite

const family =
  'CREATE TABLE parents (id INTEGER PRIMARY KEY); CREATE TABLE children (parent INTEGER REFERENCES parents); INSERT INTO parents VALUES (1); INSERT INTO children VALUES (1)'

test('processes that start at the same moment migrate a new database once, and all of them can use it', async () => {
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
    expect([database.inTransaction, database.pragma('foreign_keys', { simple: true })]).toEqual([false, 1])
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
    expect(() => migrate(database, broken)).toThrow('its migration 0001_b fails: rows refer to rows that are missing;')
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

  test('have the same hash in a checkout with other line endings', () => {
    const [unix, windows] = ['CREATE TABLE a (\n  x\n)\n', 'CREATE TABLE a (\r\n  x\r\n)\r\n'].map((sql) => {
      const folder = temporaryFolder()
      writeFileSync(join(folder, '0000_a.sql'), sql)
      return readMigrations([pathToFileURL(folder)])
    })
    expect(windows).toEqual(unix)
  })

  test('do not change a database that is up to date', () => {
    const path = join(temporaryFolder(), 'notes.db')
    prepareSqlite(path)
    const [bytes, { mtimeMs }] = [readFileSync(path), statSync(path)]
    prepareSqlite(path)
    expect(readFileSync(path).equals(bytes)).toBe(true)
    expect(statSync(path).mtimeMs).toBe(mtimeMs)
  })
})

function migrationsOf(files: Record<string, string>) {
  const folder = temporaryFolder()
  for (const [name, sql] of Object.entries(files)) writeFileSync(join(folder, name), sql)
  return readMigrations([pathToFileURL(folder)])
}

/** Starts processes that wait for a path and then prepare the database there at the same moment. */
async function startPreparers(count: number, folder: string): Promise<(path: string) => Promise<string[]>> {
  const script = join(folder, 'prepare.mjs')
  const moduleAt = (path: string) => JSON.stringify(pathToFileURL(join(import.meta.dirname, path)).href)
  writeFileSync(
    script,
    `import { createOrMigrate } from ${moduleAt('../../sqlite/opening/create-or-migrate.ts')}
    import { definition } from ${moduleAt('../../../test/notes/store.ts')}
    const loaded = await definition.forSqlite()
    process.on('message', (path) => {
      try {
        createOrMigrate({ path, loaded })
        process.send('usable')
      } catch (error) {
        process.send(error.message)
      }
    })
    process.send('waiting')`,
  )
  const fastStart = pathToFileURL(join(import.meta.dirname, '../../fast-start.mjs')).href
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
