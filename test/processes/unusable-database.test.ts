import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmdirSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { UnusableDatabase } from '../../engine/store/collection/errors.ts'
import { openDatabase } from '../../engine/test/support/database.ts'
import { databasePaths, spellings } from '../../engine/test/support/database-paths.ts'
import { notesIn } from '../../engine/test/support/log-lines.ts'
import { openFilesOf, runCommand } from '../../engine/test/support/process.ts'
import { change, leaveLog } from '../../engine/test/support/sample-database.ts'
import { temporaryFolder } from '../../engine/test/support/temporary.ts'
import { canTrace, strace } from '../../engine/test/support/traced.ts'
import { addingRows, commandLine, makeDatabase, openSqlite, prepareSqlite, unfitFiles } from '../support/petstore.ts'

describe('an unusable database is refused and not changed:', () => {
  const files: [name: string, make: (path: string) => void, message: string][] = [
    // A folder has a test of its own, and an empty file is filled.
    ...unfitFiles.filter(([name]) => !/folder|empty/.test(name)),
    ['random bytes', (path) => writeFileSync(path, randomBytes(8_192)), 'it is not an SQLite database'],
    ['a short text file', (path) => writeFileSync(path, 'x'), 'it is not an SQLite database'],
    [
      'a database of another program in WAL mode',
      (path) => change(path, 'PRAGMA journal_mode = WAL; CREATE TABLE pets (id INTEGER PRIMARY KEY)'),
      'it belongs to another program; choose another database',
    ],
    [
      'a database of another program that was killed during a write',
      (path) => makeKilled(path, 'CREATE TABLE diary (x)'),
      'it belongs to another program; choose another database',
    ],
    [
      'a short text file beside a file that is named like a journal',
      (path) => {
        writeFileSync(path, 'x')
        writeFileSync(`${path}-journal`, 'Dear diary')
      },
      'it is not an SQLite database',
    ],
    [
      'a database without the journal of its migrations, as after drizzle-kit push',
      (path) => change(makeDatabase(path, 1), 'DROP TABLE migrations'),
      'it has some of the tables, but no table "migrations"; if another program, such as drizzle-kit push, has dropped that, restore a backup',
    ],
    [
      'a truncated database',
      (path) => truncateSync(makeDatabase(path, 2_000), 8 * 4096),
      'it is corrupt, or the disk cannot read it; check the disk, or restore',
    ],
    [
      // The last migration is only in the write-ahead log.
      'a database of a newer release that was killed',
      (path) => leaveLog(makeDatabase(path, 1), "INSERT INTO migrations VALUES ('9999_future', 'x', 'now')"),
      'it was migrated by a newer release (9999_future)',
    ],
    [
      'a database with a changed migration',
      (path) => change(makeDatabase(path, 1), "UPDATE migrations SET hash = 'x'"),
      'the migration 0000_init was changed after it was applied',
    ],
  ]

  test.for(files)('%s', ([, make, message]) => {
    const path = join(temporaryFolder(), 'petstore.db')
    make(path)
    const before = fingerprints(path)
    expectRefusal(path, message)
    expect(fingerprints(path)).toMatchObject(before)
  })

  test.for(spellings)(
    'a database, opened through %s, that was moved away from its write-ahead log; no pet is lost when it is back',
    ([, spell]) => {
      const original = join(temporaryFolder(), 'petstore.db')
      const { path, given } = databasePaths(spell)
      prepareSqlite(original)
      leaveLog(original, addingRows(1, 'pet'))
      const bytes = readFileSync(original)
      copyFileSync(`${original}-wal`, `${path}-wal`)
      expectRefusal(given, `it is missing, but its write-ahead log ${path}-wal exists; put the database back beside it`)
      expect(existsSync(path)).toBe(false)
      writeFileSync(path, '')
      expectRefusal(given, 'it is missing, but its write-ahead log')
      writeFileSync(path, bytes)
      prepareSqlite(given)
      expect(openDatabase(path).prepare('SELECT count(*) FROM pets').pluck().get()).toBe(1)
    },
  )

  test.for([
    ['a folder', (path: string) => mkdirSync(path), 'it is not a file'],
    // It is refused without waiting for its other end.
    ['a named pipe', (path: string) => execFileSync('mkfifo', [path]), 'it is not a file'],
    ['a path below a file', (path: string) => writeFileSync(dirname(path), ''), 'a part of its path is a file, not a'],
    ['a link to itself', (path: string) => symlinkSync(path, path), 'too many symbolic links'],
  ] as const)('%s', ([name, make, message]) => {
    const folder = join(temporaryFolder(), 'data')
    if (name !== 'a path below a file') mkdirSync(folder)
    make(join(folder, 'petstore.db'))
    expectRefusal(join(folder, 'petstore.db'), message)
  })
})

test.for([
  ['idle', (_path: string): void => {}],
  ['used by the older release', (path: string): void => void openDatabase(path).prepare('SELECT * FROM pets').get()],
  ['left with a log by the older release', (path: string): void => leaveLog(path, 'DELETE FROM pets')],
] as const)(
  'a database of an older release that is %s is refused and not changed, unless migrate is true',
  ([, prepare]) => {
    const folder = temporaryFolder()
    const path = join(folder, 'petstore.db')
    copyFileSync(join(import.meta.dirname, '../fixtures/sqlite/0002_deletable_pets.db'), path)
    prepare(path)
    const contents = () =>
      readdirSync(folder)
        .filter((name) => !name.endsWith('-shm'))
        .map((name) => [name, readFileSync(join(folder, name))])
    const before = contents()
    for (const create of [false, true]) {
      expect(() => prepareSqlite(path, { create, migrate: false })).toThrow(
        'an older release made it; use that release, or back up the database and run "petstore db migrate"',
      )
    }
    expect(contents()).toEqual(before)
    expect(() => prepareSqlite(path, { create: false, migrate: true })).not.toThrow()
  },
)

test('an empty file is refused and not changed if create is false', () => {
  const path = join(temporaryFolder(), 'petstore.db')
  writeFileSync(path, '')
  expect(() => prepareSqlite(path, { create: false, migrate: false })).toThrow(
    'it has no tables yet: start the service',
  )
  expect(statSync(path).size).toBe(0)
})

test('a missing file and its folders are created, unless create is false', () => {
  const folder = temporaryFolder()
  const path = join(folder, 'new/data/petstore.db')
  expect(() => prepareSqlite(path, { create: false })).toThrow('it does not exist yet: start the service first')
  expect(existsSync(join(folder, 'new'))).toBe(false)
  prepareSqlite(path)
  expect([statSync(join(folder, 'new')), statSync(path)].map(({ mode }) => mode & 0o777)).toEqual([0o700, 0o600])
  prepareSqlite(path, { create: false })
})

test.for(spellings)('a missing file is created where %s leads, and a link stays a link', ([, spell]) => {
  const { path, given } = databasePaths(spell)
  rmdirSync(dirname(path))
  const kind = lstatSync(given, { throwIfNoEntry: false })?.isSymbolicLink()
  prepareSqlite(given)
  expect(statSync(path).isFile()).toBe(true)
  expect(lstatSync(given).isSymbolicLink()).toBe(kind ?? false)
})

// Only strace shows the fsyncs, and makes the disk fail.
if (canTrace()) {
  test('new folders survive a loss of power, because their parents are synced', async () => {
    const folder = realpathSync(temporaryFolder())
    const trace = join(folder, 'trace')
    const traced = [...strace('-y', '-o', trace, '-e', 'trace=fsync'), ...commandLine]
    const database = join(folder, 'new/data/petstore.db')
    const env = { DATABASE_URL: `file:${database}` }
    expect(await runCommand([...traced, 'db', 'migrate'], { env }).ended).toBe(0)
    expect(syncedIn(trace)).toEqual(expect.arrayContaining([folder, join(folder, 'new'), join(folder, 'new/data')]))
    expect(await runCommand([...traced, 'backup'], { env }).ended).toBe(0)
    expect(syncedIn(trace)).toEqual(
      expect.arrayContaining([join(folder, 'new/data'), join(folder, 'new/data/backups')]),
    )
  })

  test('a folder is created in a parent that this user may not read, and which therefore cannot be synced', async () => {
    const folder = realpathSync(temporaryFolder())
    const inject = ['-P', folder, '-e', 'trace=openat', '-e', 'inject=openat:error=EACCES']
    const env = { DATABASE_URL: `file:${join(folder, 'data/petstore.db')}` }
    const run = runCommand([...strace(...inject), ...commandLine, 'db', 'migrate'], { env })
    expect([await run.ended, notesIn(run.stderr)]).toEqual([0, expect.stringMatching(/^Created the database .*\.\n/)])
  })

  test.for([1, 4, 12])(
    'a database that the disk cannot read from read %i on is not reported as corrupt',
    async (first) => {
      const path = makeDatabase(join(temporaryFolder(), 'petstore.db'), 3_000)
      const failing = strace('-P', path, '-e', 'trace=pread64', '-e', `inject=pread64:error=EIO:when=${first}+`)
      const run = runCommand([...failing, ...commandLine, 'keys', 'list'], { env: { DATABASE_URL: `file:${path}` } })
      await run.ended
      expect(run.stderr).toMatch(
        /^The database \S+ cannot be used: (disk I\/O error|the disk cannot read it); check the disk.*\.\n$/,
      )
    },
  )
}

function syncedIn(trace: string): string[] {
  return [...readFileSync(trace, 'utf8').matchAll(/fsync\(\d+<([^>]+)>/g)].map(([, path = '']) => path)
}

test('a store that cannot be opened leaves none of the files open', () => {
  const path = join(temporaryFolder(), 'petstore.db')
  prepareSqlite(path)
  openDatabase(path).exec('DROP TABLE pets').close()
  expect(() => openSqlite({ path, busyTimeout: 0 })).toThrow('no such table: pets')
  expect(openFilesOf('self').filter((file) => file.startsWith(path))).toEqual([])
})

test('the next start rolls back a first start that was killed during a write', () => {
  const path = join(temporaryFolder(), 'petstore.db')
  makeKilled(path)
  prepareSqlite(path)
  expect(openDatabase(path).prepare("SELECT name FROM sqlite_schema WHERE name IN ('large', 'pets')").all()).toEqual([
    { name: 'pets' },
  ])
})

/** Expects one sentence that names the file. */
function expectRefusal(path: string, message: string): void {
  let thrown: unknown
  try {
    prepareSqlite(path)
  } catch (error) {
    thrown = error
  }
  expect(thrown).toBeInstanceOf(UnusableDatabase)
  expect(String(thrown)).toMatch(/^(Unusable|Lost)Database: The database \S+ cannot be used: [^\n]+\.$/)
  expect(String(thrown)).toContain(`${path} cannot be used: ${message}`)
}

/** The content and time of the file, the log and the journal. The index of the log is rewritten by every reader. */
function fingerprints(path: string): Record<string, object> {
  const files = ['', '-wal', '-journal'].map((suffix) => path + suffix).filter((file) => existsSync(file))
  return Object.fromEntries(files.map((file) => [file, { bytes: readFileSync(file), changed: statSync(file).mtimeMs }]))
}

/** Makes the files that are left after a process was killed while it wrote a transaction into the database. */
function makeKilled(path: string, ...before: string[]): void {
  const original = join(temporaryFolder(), 'original.db')
  const database = new Database(original)
  for (const statement of before) database.exec(statement)
  database.pragma('cache_size = 1')
  database.exec(`
    BEGIN;
    PRAGMA application_id = ${before.length === 0 ? 0x50455453 : 0};
    CREATE TABLE large (x);
    WITH RECURSIVE counter (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counter WHERE n < 200)
    INSERT INTO large SELECT zeroblob(3000) FROM counter;
  `)
  copyFileSync(original, path)
  copyFileSync(`${original}-journal`, `${path}-journal`)
  database.close()
}
