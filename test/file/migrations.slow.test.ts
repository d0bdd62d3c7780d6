import { execFile } from 'node:child_process'
import { cpSync, globSync, readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import type Database from 'better-sqlite3'
import { getTableName, is } from 'drizzle-orm'
import { PgTable } from 'drizzle-orm/pg-core'
import { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { describe, expect, test } from 'vitest'
import postgresConfig from '../../db/drizzle.postgres.config.ts'
import sqliteConfig from '../../drizzle.config.ts'
import { readMigrations } from '../../engine/store/database/migrations.ts'
import { tablesOf as tablesOnPostgres } from '../../engine/store/postgres/table.ts'
import { tablesOf as tablesOnSqlite } from '../../engine/store/sqlite/collection.ts'
import { migrate } from '../../engine/store/sqlite/migrate.ts'
import { openDatabase } from '../../engine/test/support/database.ts'
import { temporaryFolder } from '../../engine/test/support/temporary.ts'
import { onPostgres, onSqlite } from '../support/petstore.ts'

const root = join(import.meta.dirname, '../..')
const kinds = ['sqlite', 'postgres'] as const
const configs = { sqlite: sqliteConfig, postgres: postgresConfig }
const migrations = readMigrations([pathToFileURL(join(root, 'db/migrations/sqlite'))])

describe('the migrated tables', () => {
  test('have the columns, indexes and checks of the schema', async () => {
    const drizzleKit = join(root, 'node_modules/.bin/drizzle-kit')
    const words = ['export', '--dialect=sqlite', '--schema=./db/tables.ts']
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
})

test.for(kinds)('drizzle-kit reads every table that %s needs, and no other', async (database) => {
  const files = globSync(String(configs[database].schema), { cwd: root })
  const modules = await Promise.all(files.map((file) => import(pathToFileURL(join(root, file)).href)))
  const exported = modules.flatMap((module) => Object.values(module))
  // drizzle-kit ignores the tables of the other database.
  const found = exported.filter((value) => is(value, database === 'sqlite' ? SQLiteTable : PgTable))
  const tables = database === 'sqlite' ? tablesOnSqlite(onSqlite.collections) : tablesOnPostgres(onPostgres.collections)
  expect(found.map(getTableName).toSorted(), `The tables are in ${configs[database].schema}.`).toEqual(
    tables.map(getTableName).toSorted(),
  )
})

function migrated(): Database.Database {
  const database = openDatabase()
  migrate(database, migrations)
  return database
}

/** Describes the tables of the schema without the layout and quotes of their SQL. */
function describeTables(database: Database.Database): object[] {
  const tables = database
    .prepare(
      "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> 'migrations' ORDER BY name",
    )
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
    // A column that was added later has its checks before those of the table. Released migrations do not quote the columns.
    checks: [...sql.matchAll(/CONSTRAINT "?(\w+)"? CHECK ?\((.*)\)/g)]
      .map(([, check, rule = '']) => `${check}: ${rule.replaceAll('"', '')}`)
      .toSorted(),
    indexes: database
      .prepare(
        "SELECT replace(replace(sql, '`', ''), ', ', ',') FROM sqlite_schema WHERE type = 'index' AND tbl_name = ? ORDER BY name",
      )
      .pluck()
      .all(name),
  }))
}
