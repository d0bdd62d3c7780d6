import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { describe, expect, test } from 'vitest'
import drizzleConfig from '../../db/drizzle.postgres.config.ts'
import { isLongForm, report } from '../../engine/test/support/long-form.ts'
import { emptyDatabase, query } from '../../engine/test/support/postgres/databases.ts'
import { document, read, rowsOf } from '../support/documents.ts'
import { onPostgres, postgresDatabase, preparePostgres } from '../support/petstore.ts'
import { expectResumed, expectUpgraded, insertInterrupted } from '../support/upgraded-store.ts'

const migrations = onPostgres.migrations

describe.for(migrations.map(({ name, sql }, index) => ({ name, sql, index })))(
  'the schema of $name',
  ({ name, sql, index }) => {
    test('is upgraded with all of its rows', async () => {
      const url = await loadFixture(name)
      const store = await postgresDatabase(url).open()
      const kept = await query(url, "SELECT key FROM idempotency_keys WHERE key LIKE 'order-%' ORDER BY id")
      expect(kept.map(({ key }) => key)).toEqual(['order-1', 'order-2', 'order-3'])
      const applied = await query(url, 'SELECT name, hash FROM migrations ORDER BY name')
      expect(applied).toEqual(migrations.map((each) => ({ name: each.name, hash: each.hash })))
      await expectUpgraded(store)
    })

    test('was made by a migration that locks the tables that the guide to upgrades names', async () => {
      const locked = await lockedBy(sql, migrations[index - 1]?.name)
      const row = rowsOf(document('docs/guides/upgrades.md')).find(
        ([database, migration]) => database === 'PostgreSQL' && migration === `\`${name}\``,
      )
      expect([...(row?.[2] ?? '').matchAll(/`(\w+)`/g)].map(([, table]) => table).sort()).toEqual(locked)
    })
  },
)

test('a create that the upgrade interrupted is completed without a second pet', async () => {
  const url = await loadFixture('0001_readable_times')
  await query(url, insertInterrupted('now()'))
  await expectResumed(await postgresDatabase(url).open())
})

test('the time of the migration that constrains times depends on the number of idempotency keys', async () => {
  const rows = isLongForm ? 1_000_000 : 1_000
  const url = await loadFixture('0000_init')
  await query(
    url,
    `INSERT INTO idempotency_keys (api_key_id, key, fingerprint, pet_id, created_at)
    SELECT 1, 'order-' || n, encode(sha256(n::text::bytea), 'hex'), 1, now() FROM generate_series(4, ${rows}) AS n`,
  )
  const start = performance.now()
  await preparePostgres(url)
  report('PostgreSQL migration 0001_readable_times', { rows, milliseconds: Math.round(performance.now() - start) })
  expect(await query(url, 'SELECT count(*)::int AS rows FROM idempotency_keys')).toEqual([{ rows }])
})

async function loadFixture(name: string): Promise<string> {
  const url = await emptyDatabase()
  await query(url, read(`test/fixtures/postgres/${name}.sql`))
  return url
}

/**
 * The tables that a migration locks against reads and writes, of those that exist before it. Measured, because the text of a
 * statement does not always name them: `DROP INDEX` names none.
 */
async function lockedBy(sql: string, previous: string | undefined): Promise<string[]> {
  const client = new Client(previous === undefined ? await emptyDatabase() : await loadFixture(previous))
  await client.connect()
  try {
    const { rows: tables } = await client.query(
      "SELECT oid FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace",
    )
    await client.query('BEGIN')
    await client.query(sql)
    const { rows } = await client.query<{ name: string }>({
      text: `SELECT DISTINCT relation::regclass::text AS name FROM pg_locks
        WHERE pid = pg_backend_pid() AND mode = 'AccessExclusiveLock' AND relation = ANY ($1) ORDER BY name`,
      values: [tables.map(({ oid }) => oid)],
    })
    return rows.map(({ name }) => name)
  } finally {
    await client.end()
  }
}

test('the migrations create the columns, constraints and indexes of the schema', async () => {
  const root = join(import.meta.dirname, '../..')
  const words = ['export', '--dialect=postgresql', `--schema=${drizzleConfig.schema}`]
  const { stdout } = await promisify(execFile)(join(root, 'node_modules/.bin/drizzle-kit'), words, { cwd: root })
  const drafted = await emptyDatabase()
  await query(drafted, stdout)
  const made = await emptyDatabase()
  await preparePostgres(made)
  await query(made, 'DROP TABLE migrations')
  for (const catalogue of [
    `SELECT table_name, column_name, data_type, datetime_precision, is_nullable, identity_generation
      FROM information_schema.columns WHERE table_schema = 'public' ORDER BY 1, 2`,
    "SELECT conrelid::regclass::text, pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = 'public'::regnamespace ORDER BY 1, 2",
    "SELECT tablename, indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1, 2",
  ]) {
    const seen = await query(made, catalogue)
    expect(seen.length).toBeGreaterThan(5)
    expect(seen).toEqual(await query(drafted, catalogue))
  }
})
