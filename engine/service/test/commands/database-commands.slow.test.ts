import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { migrate } from '../../../store/sqlite/migrate.ts'
import { onSqlite, prepareSqlite } from '../../../test/notes/database.ts'
import { addingRows, commandLine, makeDatabase, runProgram, runToEnd } from '../../../test/notes/fixtures.ts'
import { definition } from '../../../test/notes/store.ts'
import { openDatabase } from '../../../test/support/database.ts'
import { auditLinesIn, notesIn } from '../../../test/support/log-lines.ts'
import { runCommand } from '../../../test/support/process.ts'
import { change, leaveLog } from '../../../test/support/sample-database.ts'
import { canMount, inNamespace } from '../../../test/support/small-disk.ts'
import { temporaryFolder } from '../../../test/support/temporary.ts'
import { describeStatus, readStatus } from '../../commands/database.ts'

const names = onSqlite.migrations.map(({ name }) => name)
const newest = names.at(-1)
/** Every resource besides the API keys. */
const others = Object.keys(definition.collections).filter((name) => name !== 'apiKeys')
const noRows = Object.fromEntries(others.map((name) => [name, 0]))

test('db status shows the schema, the sizes and the numbers of notes and keys, also of a log that a killed service left', async () => {
  const { folder, path } = sample()
  leaveLog(path, addingRows(5, 'late'))
  const files = readdirSync(dirname(path))
  const run = runProgram({ folder, arguments: ['db', 'status', '--json'] })
  expect([await run.ended, run.stderr]).toEqual([0, ''])
  expect(JSON.parse(run.stdout)).toEqual({
    kind: 'sqlite',
    location: path,
    schema: newest,
    pending: [],
    problem: null,
    bytes: { database: expect.any(Number), log: expect.toSatisfy((bytes) => bytes > 4_096) },
    rows: { ...noRows, notes: 15, keys: 0 },
    newestIds: { books: null, notes: 15, keys: null },
  })
  expect(readdirSync(dirname(path))).toEqual(files)
})

test('db status formats the same facts for a terminal', async () => {
  const { path } = sample()
  const lines = describeStatus(definition, await readStatus(definition, { kind: 'sqlite', path })).split('\n')
  expect(lines).toEqual([
    `Database         ${path} (SQLite)`,
    `Schema           ${newest}`,
    'Pending          nothing',
    expect.stringMatching(/^Size {13}\d\d\.0 KiB$/),
    'Write-ahead log  0 bytes',
    ...others.map((name) =>
      name === 'notes' ? 'Notes            10 (newest id 10)' : expect.stringMatching(/^[A-Z][a-z]+ +0$/),
    ),
    'API keys         0',
  ])
})

test('db status shows pending migrations, a newer schema and a missing database', async () => {
  const old = makeOldDatabase(2)
  expect(await readStatus(definition, { kind: 'sqlite', path: old })).toMatchObject({
    schema: names[1],
    pending: names.slice(2),
  })
  const { path } = sample()
  change(path, "INSERT INTO migrations VALUES ('9999_future', 'x', '2026-11-21T00:00:00.000Z')")
  expect(await readStatus(definition, { kind: 'sqlite', path })).toMatchObject({
    schema: '9999_future',
    problem: expect.stringContaining('it was migrated by a newer release'),
    rows: null,
  })
  const missing = join(temporaryFolder(), 'notes.db')
  const status = await readStatus(definition, { kind: 'sqlite', path: missing })
  expect(status).toMatchObject({ schema: null, pending: names, rows: null })
  expect(describeStatus(definition, status)).toMatch(/\nBooks +-\nNotes +-\nAPI keys +-$/)
  expect(existsSync(missing)).toBe(false)
})

test('db migrate --dry-run prints the pending migrations and changes nothing, and db migrate applies them', async () => {
  const path = makeOldDatabase(2)
  const env = { DATABASE_URL: `file:${path}` }
  const dry = runProgram({ env, arguments: ['db', 'migrate', '--dry-run'] })
  expect([await dry.ended, dry.stderr]).toEqual([0, ''])
  expect(dry.stdout).toMatch(
    /^-- All migrations run in one transaction, which locks the file for writing\. Reads go on\.\n/,
  )
  expect([...dry.stdout.matchAll(/^-- (\d{4}_\w+)$/gm)].map(([, name]) => name)).toEqual(names.slice(2))
  expect(dry.stdout).toContain('CREATE TABLE notes (')
  expect(await readStatus(definition, { kind: 'sqlite', path })).toMatchObject({ schema: names[1] })

  const run = runProgram({ env, arguments: ['db', 'migrate'] })
  const applied = names.slice(2)
  expect([await run.ended, run.stdout, notesIn(run.stderr)]).toEqual([
    0,
    applied.map((name) => `Applied ${name}.\n`).join(''),
    '',
  ])
  expect(auditLinesIn(run.stderr)).toMatchObject([{ action: 'database.migrate', subject: path, migrations: applied }])
  expect(await readStatus(definition, { kind: 'sqlite', path })).toMatchObject({ schema: newest, pending: [] })
})

test('db migrate creates a missing database, does nothing with a current one, and refuses a newer one', async () => {
  const folder = temporaryFolder()
  const created = await runToEnd({ folder, arguments: ['db', 'migrate'] })
  expect(created.stderr).toMatch(/^\{.*"action":"database\.migrate".*\}\nCreated the database .*\.\n$/)
  const path = join(folder, 'data/notes.db')
  const again = runProgram({ folder, arguments: ['db', 'migrate'] })
  expect([await again.ended, again.stdout]).toEqual([0, 'The schema is up to date. There is nothing to migrate.\n'])
  change(path, "INSERT INTO migrations VALUES ('9999_future', 'x', '2026-11-21T00:00:00.000Z')")
  const refused = runProgram({ folder, arguments: ['db', 'migrate', '--dry-run'] })
  expect([await refused.ended, refused.stdout, refused.stderr]).toEqual([
    1,
    '',
    `The schema of ${path} cannot be migrated: it was migrated by a newer release (9999_future); start that release, or restore a backup made before that.\n`,
  ])
})

function sample(): { folder: string; path: string } {
  const folder = temporaryFolder()
  return { folder, path: makeDatabase(join(folder, 'data/notes.db'), 10) }
}

/** Creates a database with the first migrations only. */
function makeOldDatabase(count: number): string {
  const path = join(temporaryFolder(), 'notes.db')
  mkdirSync(dirname(path), { recursive: true })
  const database = openDatabase(path)
  database.pragma(`application_id = ${onSqlite.applicationId}`)
  migrate(database, onSqlite.migrations.slice(0, count))
  database.close()
  return path
}

if (canMount()) {
  test('db copy says what to do with a database that it cannot write, and so not lock', async () => {
    const folder = temporaryFolder()
    prepareSqlite(join(folder, 'notes.db'))
    const readOnly = `mount --bind ${folder} ${folder}; mount -o remount,bind,ro ${folder}; exec "$@"`
    const words = ['db', 'copy', '--from', `file:${folder}/notes.db`, '--to', `file:${temporaryFolder()}/copy.db`]
    const run = runCommand(inNamespace(readOnly, [...commandLine, ...words]))
    expect([await run.ended, run.stderr]).toEqual([
      1,
      expect.stringMatching(
        /cannot be used: it cannot be written; copy it and, .*\/notes\.db-wal, to a folder that you can write/,
      ),
    ])
  })
}
