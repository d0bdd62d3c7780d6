import { existsSync } from 'node:fs'
import type Database from 'better-sqlite3'
import { type SchemaState, type SqliteInspection, schemaState, withMissingPart } from '../inspection.ts'
import { checkPages, connectToRead, databaseSize, orClose } from '../sqlite/connection.ts'
import { unusable } from '../sqlite/diagnosis/diagnosis.ts'
import { realPathOf, sizeOf } from '../sqlite/files.ts'
import { refuseForeignFile, refuseNonFile } from '../sqlite/header.ts'
import { findMissingPart, readApplied, readOwnMigrations } from '../sqlite/migrate.ts'
import { isBlank, refuseOrphanedLog } from '../sqlite/prepare.ts'
import { importerHash } from '../store.ts'

/** Milliseconds. */
const busyTimeout = 1_000

/** @throws {UnusableDatabase} */
export function inspectSqlite(path: string): SqliteInspection | undefined {
  return attempt(path, () => {
    const realPath = realPathOf(path)
    refuseNonFile(path)
    refuseOrphanedLog(path, realPath)
    if (!existsSync(path) || isBlank(path, realPath)) return undefined
    refuseForeignFile(path)
    return methods(path, `${realPath}-wal`, open(path))
  })
}

function open(path: string): Database.Database {
  const connection = connectToRead(path, busyTimeout)
  return orClose(connection, () => {
    connection.pragma('schema_version')
    return connection
  })
}

function methods(path: string, log: string, connection: Database.Database): SqliteInspection {
  return {
    kind: 'sqlite',
    schema: async () => attempt(path, () => readSchema(connection)),
    counts: async () =>
      attempt(path, () => ({
        pets: countRows(connection, 'pets'),
        keys: countRows(connection, `api_keys WHERE hash <> '${importerHash}'`),
      })),
    newestTime: async () => attempt(path, () => readNewestTime(connection)),
    bytes: async () => attempt(path, () => ({ database: databaseSize(connection), log: sizeOf(log) })),
    checkPages: async () => attempt(path, () => checkPages(connection, 'quick_check')),
    close: async () => void connection.close(),
  }
}

function readSchema(connection: Database.Database): SchemaState {
  const applied = readApplied(connection)
  const state = schemaState(applied, readOwnMigrations(), connection.name)
  return withMissingPart(state, state.pending.length > 0 ? undefined : findMissingPart(connection))
}

function countRows(connection: Database.Database, source: string): number {
  return Number(connection.prepare(`SELECT count(*) FROM ${source}`).pluck().get())
}

function readNewestTime(connection: Database.Database): Date | undefined {
  const text = connection
    .prepare<[], string | null>(`
      SELECT max(time) FROM (
        SELECT max(created_at) AS time FROM api_keys
        UNION ALL SELECT max(last_used_at) FROM api_keys
        UNION ALL SELECT max(applied_at) FROM migrations
      )`)
    .pluck()
    .get()
  const time = new Date(text ?? Number.NaN)
  return Number.isNaN(time.getTime()) ? undefined : time
}

function attempt<T>(path: string, step: () => T): T {
  try {
    return step()
  } catch (error) {
    throw unusable(path, error)
  }
}
