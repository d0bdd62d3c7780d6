import { existsSync } from 'node:fs'
import type Database from 'better-sqlite3'
import { getTableColumns, sql } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { type SchemaState, type SqliteInspection, schemaState, withMissingPart } from '../inspection.ts'
import type { Migration } from '../migrations.ts'
import type { Loaded } from '../resource.ts'
import { isTime } from '../sqlite/columns.ts'
import { attempt } from '../sqlite/diagnosis/diagnosis.ts'
import { checkPages, connectToRead, databaseSize, orClose } from '../sqlite/file/connection.ts'
import { realPathOf, sizeOf } from '../sqlite/file/files.ts'
import { refuseForeignFile, refuseNonFile } from '../sqlite/file/header.ts'
import { findMissingPart, readApplied } from '../sqlite/migrate.ts'
import { type SqliteResource, tablesOf } from '../sqlite/resource.ts'
import { textOf } from '../sqlite/statements.ts'
import { isBlank, refuseOrphanedLog } from '../sqlite/store/prepare.ts'

/** Milliseconds. */
const busyTimeout = 1_000

/** @throws {UnusableDatabase} */
export function inspectSqlite(path: string, resources: Loaded<SqliteResource>): SqliteInspection | undefined {
  return attempt(path, () => {
    const connection = openToInspect(path)
    return connection && methods(path, resources, connection)
  })
}

/** Returns undefined if there is no file yet, or nothing in it. */
export function openToInspect(path: string): Database.Database | undefined {
  const realPath = realPathOf(path)
  refuseNonFile(path)
  refuseOrphanedLog(path, realPath)
  if (!existsSync(path) || isBlank(path, realPath)) return undefined
  refuseForeignFile(path)
  const connection = connectToRead(path, busyTimeout)
  return orClose(connection, () => {
    connection.pragma('schema_version')
    return connection
  })
}

function methods(
  path: string,
  { migrations, resources }: Loaded<SqliteResource>,
  connection: Database.Database,
): SqliteInspection {
  const tables = Object.entries(resources).map(([name, { table }]) => ({ name, table }))
  return {
    kind: 'sqlite',
    schema: async () => attempt(path, () => readSchema(connection, migrations, tablesOf(resources))),
    counts: async () =>
      attempt(path, () => Object.fromEntries(tables.map(({ name, table }) => [name, countRows(connection, table)]))),
    newestTime: async () =>
      attempt(path, () =>
        readNewestTime(
          connection,
          tables.map(({ table }) => table),
        ),
      ),
    bytes: async () =>
      attempt(path, () => ({ database: databaseSize(connection), log: sizeOf(`${realPathOf(path)}-wal`) })),
    checkPages: async () => attempt(path, () => checkPages(connection, 'quick_check')),
    close: async () => void connection.close(),
  }
}

function readSchema(connection: Database.Database, migrations: Migration[], tables: SQLiteTable[]): SchemaState {
  const applied = readApplied(connection)
  const state = schemaState(applied, migrations, connection.name)
  return withMissingPart(state, state.pending.length > 0 ? undefined : findMissingPart(connection, tables))
}

function countRows(connection: Database.Database, table: SQLiteTable): number {
  return Number(
    connection
      .prepare(textOf(sql`SELECT count(*) FROM ${table}`))
      .pluck()
      .get(),
  )
}

/** The newest time in the tables and in the journal of migrations. */
function readNewestTime(connection: Database.Database, tables: SQLiteTable[]): Date | undefined {
  const maxima = tables.flatMap((table) =>
    Object.values(getTableColumns(table))
      .filter(isTime)
      .map((column) => sql`SELECT max(${column}) AS time FROM ${table}`),
  )
  const journal = sql`SELECT max(applied_at) AS time FROM migrations`
  const newest = sql`SELECT max(time) FROM (${sql.join([journal, ...maxima], sql` UNION ALL `)})`
  const text = connection.prepare<[], string | null>(textOf(newest)).pluck().get()
  const time = new Date(text ?? Number.NaN)
  return Number.isNaN(time.getTime()) ? undefined : time
}
