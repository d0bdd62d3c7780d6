import { execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test } from 'vitest'
import { migrate, readMigrations } from '../db/migrate.ts'
import { prepareDatabase } from '../db/sqlite/prepare.ts'
import { openSqliteStore } from '../db/sqlite/store.ts'
import { NewPet } from '../server/pets.ts'
import { temporaryFolder } from './helpers.ts'

const root = join(import.meta.dirname, '..')
const migrations = readMigrations(pathToFileURL(join(root, 'db/sqlite/migrations')))

describe('starting at the same moment', () => {
  test('eight processes find an empty file usable, round after round, and migrate it once', async () => {
    const folder = temporaryFolder()
    const prepareTogether = await startPreparers(8, folder)
    for (let round = 0; round < 100; round++) {
      const path = join(folder, `${round}.db`)
      // A file that is empty and one that is missing are the same to the service.
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

describe('the runner', () => {
  test('refuses a database that a newer release migrated, by the name of the migration it does not know', () => {
    const database = openDatabase()
    migrate(database, [...migrations, { name: '9999_future', sql: 'CREATE TABLE future (x)', hash: 'x' }])
    expect(() => migrate(database, migrations)).toThrow(/^it was migrated by a newer release \(9999_future\): [^\n]+$/)
  })

  test('refuses a migration that was changed after it was applied', () => {
    const database = openDatabase()
    const applied = { name: '0000_a', sql: 'CREATE TABLE a (x)', hash: 'as applied' }
    migrate(database, [applied])
    expect(() => migrate(database, [{ ...applied, hash: 'as changed' }])).toThrow(
      /^the migration 0000_a was changed after it was applied: [^\n]+$/,
    )
  })

  test('does not take a checkout with other line endings for a change', () => {
    const [unix, windows] = ['CREATE TABLE a (\n  x\n)\n', 'CREATE TABLE a (\r\n  x\r\n)\r\n'].map((sql) => {
      const folder = temporaryFolder()
      writeFileSync(join(folder, '0000_a.sql'), sql)
      return readMigrations(pathToFileURL(folder))
    })
    expect(windows).toEqual(unix)
  })

  test('enforces foreign keys again after a migration that failed', () => {
    const database = openDatabase()
    expect(() => migrate(database, [{ name: '0000_a', sql: 'nonsense', hash: 'x' }])).toThrow('syntax error')
    expect(database.pragma('foreign_keys', { simple: true })).toBe(1)
    expect(database.inTransaction).toBe(false)
  })

  test('leaves a database that lacks nothing as it was', () => {
    const path = join(temporaryFolder(), 'petstore.db')
    prepareDatabase(path)
    const [bytes, { mtimeMs }] = [readFileSync(path), statSync(path)]
    prepareDatabase(path)
    expect(readFileSync(path).equals(bytes)).toBe(true)
    expect(statSync(path).mtimeMs).toBe(mtimeMs)
  })
})

describe('the tables that the migrations make', () => {
  test('are those of the schema: columns, indexes and checks', async () => {
    const drizzleKit = join(root, 'node_modules/.bin/drizzle-kit')
    const words = ['export', '--dialect=sqlite', '--schema=./db/sqlite/schema.ts']
    const { stdout } = await promisify(execFile)(drizzleKit, words, { cwd: root })
    const drafted = openDatabase()
    drafted.exec(stdout)
    expect(describeTables(openPetstore())).toEqual(describeTables(drafted))
  })

  test('are all strict', () => {
    const lax = openPetstore()
      .prepare("SELECT name FROM pragma_table_list WHERE type = 'table' AND NOT strict AND name NOT LIKE 'sqlite_%'")
      .pluck()
    expect(lax.all()).toEqual([])
  })
})

describe('a name added by hand is judged as the service judges it:', () => {
  test('every character of the Basic Multilingual Plane and some beyond, alone and among others', () => {
    const isStored = storesName(openPetstore())
    const names = characters().flatMap((character) => [character, `a${character}b`, ` ${character}`])
    const disagreements = names.filter((name) => isStored(name) !== isName(name))
    expect(disagreements).toEqual([])
  })

  test.for([0, 1, 254, 255, 256, 510, 511])('%i characters, each of one or of two UTF-16 units', (length) => {
    const isStored = storesName(openPetstore())
    for (const character of ['x', '𝒳']) {
      const name = character.repeat(length)
      expect(isStored(name)).toBe(isName(name))
    }
  })
})

describe('a pet added by hand', () => {
  test.for([-(2n ** 63n), -1n, 0n, 2n ** 63n - 1n])(
    'may have the category %d, which comes back digit for digit',
    (category) => {
      const database = openPetstore().defaultSafeIntegers()
      database.prepare("INSERT INTO pets (name, category_id, status) VALUES ('Rex', ?, 'sold')").run(category)
      expect(database.prepare('SELECT category_id FROM pets').pluck().get()).toBe(category)
    },
  )

  test.for([0, -1])('may not have the id %i', (id) => {
    const insert = openPetstore().prepare("INSERT INTO pets VALUES (?, 'Rex', 1, 'sold')")
    expect(() => insert.run(id)).toThrow('pets_id_positive')
  })

  test.for(['', 'Sold', 'sold ', 'lost'])('may not have the status %j', (status) => {
    const insert = openPetstore().prepare("INSERT INTO pets (name, category_id, status) VALUES ('Rex', 1, ?)")
    expect(() => insert.run(status)).toThrow('pets_status_known')
  })
})

describe('an API key added by hand', () => {
  const insert = "INSERT INTO api_keys (name, start, hash, created_at, revoked_at) VALUES (?, 'pet_', ?, 'now', ?)"

  test('needs a hash as long as SHA-256 is', () => {
    expect(() => openPetstore().prepare(insert).run('shop', 'short', null)).toThrow('api_keys_hash_sha256')
  })

  test('may not have the hash of another', () => {
    const add = openPetstore().prepare(insert)
    add.run('shop', 'a'.repeat(64), null)
    expect(() => add.run('till', 'a'.repeat(64), null)).toThrow('UNIQUE constraint failed: api_keys.hash')
  })

  test('may have the name of another only if that one is revoked', () => {
    const add = openPetstore().prepare(insert)
    add.run('shop', 'a'.repeat(64), 'now')
    add.run('shop', 'b'.repeat(64), null)
    expect(() => add.run('shop', 'c'.repeat(64), null)).toThrow('UNIQUE constraint failed: api_keys.name')
  })
})

test('a page of a rare status is found without reading the pets of other statuses', async () => {
  const path = join(temporaryFolder(), 'petstore.db')
  const store = openSqliteStore({ path, busyTimeout: 250 })
  onTestFinished(() => store.close())
  const database = openDatabase(path)
  database.exec(`
    WITH RECURSIVE counter (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counter WHERE n < 100000)
    INSERT INTO pets (name, category_id, status)
    SELECT 'Rex', 1, CASE WHEN n % 25000 = 0 THEN 'sold' ELSE 'available' END FROM counter
  `)
  const readAll = database.prepare("SELECT id FROM pets WHERE +status = 'sold'")
  const page = () => store.pets.list({ status: 'sold', cursor: 25_000n, limit: 2 })
  expect((await page()).map(({ id }) => id)).toEqual([50_000n, 75_000n])
  expect(await fastest(page)).toBeLessThan((await fastest(() => readAll.all())) / 10)
})

/** A database of the service, opened as a person with `sqlite3` would. */
function openPetstore(): Database.Database {
  const path = join(temporaryFolder(), 'petstore.db')
  prepareDatabase(path)
  return openDatabase(path)
}

function openDatabase(path = ':memory:'): Database.Database {
  const database = new Database(path)
  onTestFinished(() => void database.close())
  return database
}

/** Starts processes that wait for a path, so that all of them prepare the database there at the same moment. */
async function startPreparers(count: number, folder: string): Promise<(path: string) => Promise<string[]>> {
  const script = join(folder, 'prepare.mjs')
  const module = pathToFileURL(join(root, 'db/sqlite/prepare.ts')).href
  writeFileSync(
    script,
    `import { prepareDatabase } from ${JSON.stringify(module)}
    process.on('message', (path) => {
      try {
        prepareDatabase(path)
        process.send('usable')
      } catch (error) {
        process.send(error.message)
      }
    })
    process.send('waiting')`,
  )
  const fastStart = pathToFileURL(join(root, 'db/fast-start.mjs')).href
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

/** What there is of the tables of the schema; how the text is laid out and quoted is of no account. */
function describeTables(database: Database.Database): object[] {
  const tables = database
    .prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name IN ('api_keys', 'pets') ORDER BY name")
    .all() as { name: string; sql: string }[]
  return tables.map(({ name, sql }) => ({
    name,
    // A primary key is never NULL, whether that is said or not.
    columns: database
      .prepare('SELECT name, upper(type), "notnull" OR pk AS required, dflt_value, pk FROM pragma_table_info(?)')
      .all(name),
    isAutoincrement: sql.includes('AUTOINCREMENT'),
    checks: [...sql.matchAll(/CONSTRAINT "?(\w+)"? CHECK ?\((.*)\)/g)].map(([, check, rule]) => `${check}: ${rule}`),
    indexes: database
      .prepare("SELECT replace(sql, '`', '') FROM sqlite_schema WHERE type = 'index' AND tbl_name = ? ORDER BY name")
      .pluck()
      .all(name),
  }))
}

function isName(name: string): boolean {
  return NewPet.safeParse({ name, categoryId: 1n }).success
}

function storesName(database: Database.Database): (name: string) => boolean {
  const insert = database.prepare("INSERT INTO pets (name, category_id, status) VALUES (?, 1, 'sold')")
  database.exec('BEGIN')
  return (name) => {
    try {
      return insert.run(name).changes === 1
    } catch (error) {
      if (error instanceof Database.SqliteError && error.code === 'SQLITE_CONSTRAINT_CHECK') return false
      throw error
    }
  }
}

/** Surrogates are none by themselves: a text with one that stands alone cannot be stored in UTF-8. */
function characters(): string[] {
  const plane = Array.from({ length: 0x10000 }, (_, codePoint) => codePoint)
  const wellFormed = plane.filter((codePoint) => codePoint < 0xd800 || codePoint > 0xdfff)
  return [...wellFormed, 0x10000, 0x1f600, 0xe0001, 0xe0020, 0x10ffff].map((codePoint) =>
    String.fromCodePoint(codePoint),
  )
}

/** Milliseconds of the fastest of several runs, which no other work on the machine has slowed down. */
async function fastest(run: () => unknown): Promise<number> {
  let best = Number.POSITIVE_INFINITY
  for (let i = 0; i < 10; i++) {
    const begin = performance.now()
    await run()
    best = Math.min(best, performance.now() - begin)
  }
  return best
}
