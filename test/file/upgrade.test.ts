import { copyFileSync, globSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { pendingMigrations } from '../../engine/store/database/migrations.ts'
import { migrate, readJournal } from '../../engine/store/sqlite/migrate.ts'
import { openDatabase } from '../../engine/test/support/database.ts'
import { isLongForm, report } from '../../engine/test/support/long-form.ts'
import { change } from '../../engine/test/support/sample-database.ts'
import { temporaryFolder } from '../../engine/test/support/temporary.ts'
import { pets } from '../fixtures/rows.ts'
import { document, read, root, rowsOf } from '../support/documents.ts'
import { makeBackup, onPostgres, onSqlite, openFileStore, restore } from '../support/petstore.ts'
import { expectResumed, expectUpgraded, insertInterrupted } from '../support/upgraded-store.ts'

const fixtures = join(import.meta.dirname, '../fixtures')
const migrations = onSqlite.migrations

test('every released schema has a fixture (npx node test/fixtures/make.ts makes a missing one)', () => {
  const names = (pattern: string) => globSync(pattern, { cwd: fixtures }).map((path) => basename(path).split('.')[0])
  expect(names('sqlite/*.db').sort()).toEqual(migrations.map(({ name }) => name))
  expect(names('postgres/*.sql').sort()).toEqual(onPostgres.migrations.map(({ name }) => name))
})

test.for(['sqlite', 'postgres'])('the journal of drizzle-kit names the migrations of %s', (database) => {
  const { entries } = JSON.parse(read(`db/migrations/${database}/meta/_journal.json`))
  const files = globSync(`db/migrations/${database}/*.sql`, { cwd: root })
  expect(entries.map(({ tag }: { tag: string }) => `${tag}.sql`)).toEqual(files.map((path) => basename(path)).sort())
})

describe.for(migrations.map(({ name }, index) => ({ name, index })))('the schema of $name', ({ name, index }) => {
  test('is upgraded with all of its rows', async () => {
    const path = copyFixture(name)
    const store = openFileStore(path)
    const database = openDatabase(path)
    expect(readJournal(database)).toEqual(migrations.map((each) => ({ name: each.name, hash: each.hash })))
    expect(database.pragma('integrity_check', { simple: true })).toBe('ok')
    expect(database.pragma('foreign_key_check')).toEqual([])
    const kept = database.prepare(
      "SELECT key, operation, result FROM idempotency_keys WHERE key LIKE 'order-%' ORDER BY id",
    )
    const expected = pets.map((_, pet) => [`order-${pet + 1}`, 'pets.create', `{"id":${pet + 1}}`])
    expect(kept.raw().all()).toEqual(name === '0000_init' ? [] : expected)
    await expectUpgraded(store)
  })

  test('is refused by a release that has no such migration', () => {
    const database = openDatabase(copyFixture(name))
    expect(() => pendingMigrations(readJournal(database), migrations.toSpliced(index, 1), 'petstore.db')).toThrow(
      `it was migrated by a newer release (${name}); start that release, or restore a backup made before that.`,
    )
  })
})

test('a create that the upgrade interrupted is completed without a second pet', async () => {
  const path = copyFixture('0003_readable_times')
  openDatabase(path).exec(insertInterrupted("strftime('%Y-%m-%dT%H:%M:%fZ')"))
  await expectResumed(openFileStore(path))
})

test('during a migration other connections read, and wait to write', () => {
  const path = copyFixture('0000_init')
  const [migrating, other] = [openDatabase(path), openDatabase(path)]
  other.pragma('busy_timeout = 0')
  const seen: unknown[] = []
  migrate(migrating, migrations, () => {
    seen.push(other.prepare('SELECT count(*) FROM pets').pluck().get())
    expect(() => other.exec('DELETE FROM pets')).toThrow('database is locked')
  })
  expect(seen).toEqual([pets.length])
})

test('the time of the migrations depends on the number of idempotency keys', () => {
  const rows = isLongForm ? 1_000_000 : 1_000
  const database = openDatabase(copyFixture('0001_idempotency_keys'))
  database.exec(`
    WITH RECURSIVE counter (n) AS (SELECT 4 UNION ALL SELECT n + 1 FROM counter WHERE n < ${rows})
    INSERT INTO idempotency_keys (api_key_id, key, fingerprint, pet_id, created_at)
    SELECT 1, 'order-' || n, lower(hex(randomblob(32))), 1, '2026-01-02T03:04:05.678Z' FROM counter`)
  const times = migrations.slice(2).map(({ name }, index) => {
    const start = performance.now()
    migrate(database, migrations.slice(0, index + 3))
    return [name, Math.round(performance.now() - start)]
  })
  report('SQLite migrations', { rows, milliseconds: Object.fromEntries(times) })
  expect(database.prepare('SELECT count(*) FROM idempotency_keys').pluck().get()).toBe(rows)
})

test('a release puts its own backup back in the place of a database that a newer release has migrated', async () => {
  const { folder, database, backup } = await makeBackup()
  change(database, "INSERT INTO migrations VALUES ('9999_future', 'x', 'now'); DELETE FROM pets")
  expect(() => openFileStore(database)).toThrow('it was migrated by a newer release (9999_future)')
  await restore(folder, backup)
  const store = openFileStore(database)
  expect(await store.pets.list({ limit: 100, cursor: 0n })).toHaveLength(3)
})

test('the guide to upgrades lists every migration of PostgreSQL in order, and SQLite once', () => {
  const rows = rowsOf(document('docs/guides/upgrades.md')).map(([database, name]) => `${database} ${name}`)
  const listed = ['SQLite each', ...onPostgres.migrations.map(({ name }) => `PostgreSQL \`${name}\``)]
  expect(rows, 'Say in docs/guides/upgrades.md what each migration locks.').toEqual(listed)
})

function copyFixture(name: string): string {
  const path = join(temporaryFolder(), 'petstore.db')
  copyFileSync(join(fixtures, 'sqlite', `${name}.db`), path)
  return path
}
