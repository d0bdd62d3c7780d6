import { Client } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { tableLocks } from '../../db/migration-locks.ts'
import { migrate } from '../../db/postgres/migrate.ts'
import { about } from '../../server/about.ts'
import { describeMigrations, readPending, readStatus } from '../../server/ops/database.ts'
import { examine } from '../../server/ops/doctor/doctor.ts'
import type { Finding } from '../../server/ops/doctor/finding.ts'
import { thisMachine } from '../../server/ops/doctor/machine.ts'
import { freePort } from '../support/free-port.ts'
import { createDatabase, emptyDatabase, query, setReadOnly } from '../support/postgres/databases.ts'
import { runPetstore } from '../support/process.ts'
import { onPostgres, preparePostgres } from '../support/resources.ts'

const migrations = onPostgres.migrations
const names = migrations.map(({ name }) => name)

test('the locks that db migrate --dry-run shows are those that PostgreSQL takes', async () => {
  const client = await connect(await emptyDatabase())
  for (const [index, migration] of migrations.entries()) {
    await migrate(client, migrations.slice(0, index), { name: 'test' })
    await expectShownLocks(client, migration.sql)
    if (index > 0) expect(tableLocks(migration).size).toBeGreaterThan(0)
  }
})

test('the locks of statements with quoted names, schemas, comments and literals are those that PostgreSQL takes', async () => {
  const client = await connect(await emptyDatabase())
  await migrate(client, migrations, { name: 'test' })
  await client.query('CREATE TABLE "Vets; of ""Rex""" (id bigint PRIMARY KEY)')
  for (const sql of statements) await expectShownLocks(client, sql)
})

/** drizzle-kit quotes each name. */
const statements = [
  'ALTER TABLE "pets" ADD COLUMN "tag" text;--> statement-breakpoint\nDROP TABLE "api_keys" CASCADE',
  'CREATE INDEX "pets_by_category" ON "pets" USING btree ("category_id");',
  'ALTER TABLE "idempotency_keys" ADD COLUMN "pet" bigint, ADD FOREIGN KEY ("pet") REFERENCES "public"."pets"("id")',
  'ALTER TABLE IF EXISTS ONLY public."pets" ALTER COLUMN name SET NOT NULL',
  'CREATE TABLE "owners" ("id" bigint PRIMARY KEY, "pet" bigint REFERENCES "pets");\nALTER TABLE "owners" ADD COLUMN "name" text',
  'CREATE TABLE IF NOT EXISTS owners (id bigint PRIMARY KEY); CREATE INDEX ON owners (id)',
  'ALTER TABLE "Vets; of ""Rex""" ADD COLUMN name text',
  '  UPDATE PETS SET name = name; DELETE FROM ONLY public.api_keys',
  "/* ALTER TABLE api_keys */ UPDATE pets SET name = 'Rex''; DROP TABLE api_keys' -- ALTER TABLE api_keys",
  "UPDATE pets SET name = E'Rex\\'; DROP TABLE api_keys'",
  'CREATE FUNCTION forget() RETURNS void LANGUAGE plpgsql AS $body$\nBEGIN\nDELETE FROM pets;\nEND\n$body$',
  'CREATE OR REPLACE TRIGGER "note" AFTER UPDATE ON "pets" FOR EACH STATEMENT EXECUTE FUNCTION pets_take_turns()',
  'DROP TABLE "idempotency_keys", "api_keys"; TRUNCATE pets',
]

/** Expects that the locks that are shown for a migration are those that PostgreSQL takes. */
async function expectShownLocks(client: Client, sql: string): Promise<void> {
  const { rows: existing } = await client.query<{ oid: number; relname: string }>(
    "SELECT oid, relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace",
  )
  await client.query('BEGIN')
  await client.query(sql)
  const { rows } = await client.query<{ relation: number; mode: string }>({
    text: `
      SELECT relation, mode FROM pg_locks
      WHERE pid = pg_backend_pid() AND relation = ANY ($1) AND mode NOT IN ('AccessShareLock', 'RowShareLock')`,
    values: [existing.map(({ oid }) => oid)],
  })
  await client.query('ROLLBACK')
  const nameOf = new Map(existing.map(({ oid, relname }) => [oid, relname]))
  const taken = Map.groupBy(rows, ({ relation }) => nameOf.get(relation))
  const shown = tableLocks({ sql })
  expect([...shown.keys()].sort(), sql).toEqual([...taken.keys()].sort())
  for (const [table, mode] of shown) {
    const lock = `${mode
      .toLowerCase()
      .replaceAll(/\b\w/g, (letter) => letter.toUpperCase())
      .replaceAll(' ', '')}Lock`
    expect(
      taken.get(table)?.map((row) => row.mode),
      `${sql} ${table}`,
    ).toContain(lock)
  }
}

test('db status and db migrate --dry-run show an old, a current and an empty database', async () => {
  const url = await emptyDatabase()
  const location = { kind: 'postgres', url } as const
  expect(await readStatus(location)).toMatchObject({ schema: null, pending: names, rows: null })
  await migrate(await connect(url), migrations.slice(0, 1), { name: 'test' })
  const pending = await readPending(location)
  expect(pending.map(({ name }) => name)).toEqual(names.slice(1))
  expect(describeMigrations(location, pending)).toContain(
    '\n-- Locks api_keys (ACCESS EXCLUSIVE): blocks reads and writes.\n',
  )
  await preparePostgres(url)
  const run = runPetstore({ env: { DATABASE_URL: url }, arguments: ['db', 'status', '--json'] })
  expect([await run.ended, run.stderr]).toEqual([0, ''])
  expect(JSON.parse(run.stdout)).toEqual({
    kind: 'postgres',
    location: expect.stringMatching(/^postgres:\/\/petstore@127\.0\.0\.1:\d+\/test_\w+$/),
    schema: names.at(-1),
    pending: [],
    problem: null,
    bytes: { database: expect.any(Number) },
    rows: { pets: 0, keys: 0 },
  })
})

test('the doctor finds nothing wrong with a healthy database', async () => {
  const url = await emptyDatabase()
  await preparePostgres(url)
  const findings = await diagnose(url)
  expect(findings.map(({ check }) => check)).toEqual([
    'node',
    'descriptors',
    'database',
    'schema',
    'server',
    'encoding',
    'writable',
    'connections',
    'clock',
    'port',
    'service',
  ])
  expect(badIn(findings)).toEqual([])
})

test('the doctor reports a server that does not respond, a read-only one, and too few connections', async () => {
  const gone = `postgres://petstore:secret@127.0.0.1:${await freePort()}/petstore`
  expect(badIn(await diagnose(gone))).toEqual([
    {
      check: 'database',
      status: 'failure',
      message: expect.stringMatching(
        /^The database postgres:\/\/petstore@127\.0\.0\.1:\d+\/petstore cannot be used: nothing/,
      ),
    },
  ])
  const url = await emptyDatabase()
  await preparePostgres(url)
  expect(badIn(await diagnose(url, { databaseConnections: 9_999 }))).toMatchObject([
    { check: 'connections', status: 'warning', message: expect.stringContaining('an instance may need 10000') },
  ])
  await setReadOnly(url, true)
  expect(badIn(await diagnose(url))).toMatchObject([{ check: 'writable', status: 'failure' }])
})

test('the doctor reports an old and a newer schema, another encoding, and a clock that differs', async () => {
  const url = await emptyDatabase()
  await migrate(await connect(url), migrations.slice(0, -1), { name: 'test' })
  expect(badIn(await diagnose(url))).toMatchObject([
    { check: 'schema', status: 'warning', message: expect.stringContaining('1 migration is pending') },
  ])
  await preparePostgres(url)
  expect(badIn(await diagnose(url, {}, { now: new Date(Date.now() - 120_000) }))).toMatchObject([
    { check: 'clock', status: 'failure' },
  ])
  await query(url, "INSERT INTO migrations VALUES ('9999_future', 'x', now())")
  expect(badIn(await diagnose(url))).toMatchObject([{ check: 'schema', status: 'failure' }])
  const latin = await createDatabase("ENCODING 'LATIN1' LOCALE 'C'")
  expect(badIn(await diagnose(latin))).toMatchObject([
    { check: 'schema', status: 'warning' },
    { check: 'encoding', status: 'failure' },
  ])
})

async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url })
  await client.connect()
  onTestFinished(() => client.end())
  return client
}

function diagnose(url: string, service = {}, machine = {}): Promise<Finding[]> {
  const port = { origin: 'http://127.0.0.1:1', problem: async () => undefined }
  const healthy = {
    ...about,
    database: { kind: 'postgres', url } as const,
    databaseConnections: 10,
    backupEvery: undefined,
    apiKeyFile: undefined,
    port,
  }
  return examine([], { ...healthy, ...service }, { ...thisMachine(), ...machine })
}

function badIn(findings: Finding[]): Finding[] {
  return findings.filter(({ status }) => status !== 'ok')
}
