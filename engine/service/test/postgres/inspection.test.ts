import { expect, test } from 'vitest'
import { migrate } from '../../../store/postgres/migrate.ts'
import { onPostgres, preparePostgres } from '../../../test/notes/database.ts'
import { runProgram } from '../../../test/notes/fixtures.ts'
import { definition } from '../../../test/notes/store.ts'
import { freePort } from '../../../test/support/free-port.ts'
import {
  connectTo,
  createDatabase,
  emptyDatabase,
  query,
  setReadOnly,
} from '../../../test/support/postgres/databases.ts'
import { describeMigrations, readPending, readStatus } from '../../commands/database.ts'
import { examine, type Finding } from '../../commands/doctor.ts'

const migrations = onPostgres.migrations
const names = migrations.map(({ name }) => name)

test('db status and db migrate --dry-run show an old, a current and an empty database', async () => {
  const url = await emptyDatabase()
  const location = { kind: 'postgres', url } as const
  expect(await readStatus(definition, location)).toMatchObject({ schema: null, pending: names, rows: null })
  await migrate(await connectTo(url), { ...onPostgres, migrations: migrations.slice(0, 1) }, { name: 'test' })
  const pending = await readPending(definition, location)
  expect(pending.map(({ name }) => name)).toEqual(names.slice(1))
  expect(describeMigrations(location, pending)).toMatch(
    new RegExp(
      `^-- All migrations run in one transaction, which holds its locks until it ends.\\n\\n-- ${names[1]}\\n`,
    ),
  )
  await preparePostgres(url)
  const run = runProgram({ env: { DATABASE_URL: url }, arguments: ['db', 'status', '--json'] })
  expect([await run.ended, run.stderr]).toEqual([0, ''])
  expect(JSON.parse(run.stdout)).toEqual({
    kind: 'postgres',
    location: expect.stringMatching(/^postgres:\/\/tester@127\.0\.0\.1:\d+\/test_\w+$/),
    schema: names.at(-1),
    pending: [],
    problem: null,
    bytes: { database: expect.any(Number) },
    rows: expect.objectContaining({ notes: 0, keys: 0 }),
    newestIds: expect.objectContaining({ notes: null, keys: null }),
  })
})

test('the doctor finds nothing wrong with a healthy database', async () => {
  const url = await emptyDatabase()
  await preparePostgres(url)
  const findings = await diagnose(url)
  expect(findings.map(({ check }) => check)).toEqual(['node', 'database', 'schema', 'server'])
  expect(badIn(findings)).toEqual([])
})

test('the doctor reports a server that does not respond, and a read-only one', async () => {
  const gone = `postgres://notes:secret@127.0.0.1:${await freePort()}/notes`
  expect(badIn(await diagnose(gone))).toEqual([
    {
      check: 'database',
      status: 'failure',
      message: expect.stringMatching(
        /^The database postgres:\/\/notes@127\.0\.0\.1:\d+\/notes cannot be used: nothing/,
      ),
    },
  ])
  const url = await emptyDatabase()
  await preparePostgres(url)
  await setReadOnly(url, true)
  expect(badIn(await diagnose(url))).toMatchObject([
    { check: 'server', status: 'failure', message: expect.stringContaining('turn off default_transaction_read_only') },
  ])
})

test('the doctor reports an old and a newer schema, and another encoding', async () => {
  const url = await emptyDatabase()
  await migrate(await connectTo(url), { ...onPostgres, migrations: migrations.slice(0, -1) }, { name: 'test' })
  expect(badIn(await diagnose(url))).toMatchObject([
    { check: 'schema', status: 'warning', message: expect.stringContaining('1 migration is pending') },
  ])
  await preparePostgres(url)
  await query(url, "INSERT INTO migrations VALUES ('9999_future', 'x', now())")
  expect(badIn(await diagnose(url))).toMatchObject([{ check: 'schema', status: 'failure' }])
  await query(url, 'DROP TABLE migrations')
  expect(badIn(await diagnose(url))).toMatchObject([
    { check: 'schema', status: 'failure', message: expect.stringContaining('but no table "migrations"') },
  ])
  const latin = await createDatabase("ENCODING 'LATIN1' LOCALE 'C'")
  expect(badIn(await diagnose(latin))).toMatchObject([
    { check: 'schema', status: 'warning', message: 'There are no tables yet. The first start creates them.' },
    { check: 'server', status: 'failure', message: expect.stringContaining('The encoding LATIN1 cannot') },
  ])
})

function diagnose(url: string): Promise<Finding[]> {
  const database = { kind: 'postgres', url } as const
  return examine([], { command: 'notes', definition, database, backupEvery: undefined })
}

function badIn(findings: Finding[]): Finding[] {
  return findings.filter(({ status }) => status !== 'ok')
}
