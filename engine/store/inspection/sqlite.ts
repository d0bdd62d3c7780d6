import { existsSync } from 'node:fs'
import type Database from 'better-sqlite3'
import type { Loaded } from '../database/loaded.ts'
import type { SqliteCollection } from '../sqlite/collection.ts'
import { checkPages, connectToRead, databaseSize, orClose } from '../sqlite/file/connection.ts'
import { orUnusable } from '../sqlite/file/diagnosis.ts'
import { realPathOf, sizeOf } from '../sqlite/file/files.ts'
import { refuseForeignFile, refuseNonFile } from '../sqlite/file/header.ts'
import { findMissingPart, hasTable, readApplied } from '../sqlite/migrate.ts'
import { isBlank, refuseOrphanedLog } from '../sqlite/opening/create-or-migrate.ts'
import { refuseRescuedCopies } from '../sqlite/rescue/rescued-copies.ts'
import { query } from '../sqlite/statements.ts'
import { inspectionOf } from './inspection.ts'

/** Milliseconds. */
const busyTimeout = 1_000

/** @returns undefined if there is no file yet, or nothing in it. Its methods may reject: {@link UnusableDatabase}. */
export function inspectSqlite(path: string, loaded: Loaded<SqliteCollection>) {
  const connection = orUnusable(path, () => openToInspect(path, loaded))
  if (!connection) return undefined
  const run = async <T>(step: () => T) => orUnusable(path, step)
  const common = inspectionOf({
    name: path,
    ...loaded,
    hasTable: (table) => run(() => hasTable(connection, table)),
    query: (statement) => run(() => query(connection, statement)),
    readApplied: () => run(() => readApplied(connection)),
    findMissingPart: () => run(() => findMissingPart(connection, loaded)),
  })
  return {
    kind: 'sqlite' as const,
    ...common,
    bytes: () => run(() => ({ database: databaseSize(connection), log: sizeOf(`${realPathOf(path)}-wal`) })),
    /** Reads every page, which takes about a millisecond per MiB. */
    checkPages: () => run(() => checkPages(connection, 'quick_check')),
    close: async () => void connection.close(),
  }
}

function openToInspect(path: string, loaded: Loaded<SqliteCollection>): Database.Database | undefined {
  const realPath = realPathOf(path)
  refuseNonFile(path)
  refuseOrphanedLog(path, realPath)
  if (!existsSync(path) || isBlank(path, realPath)) {
    refuseRescuedCopies(path, loaded.program)
    return undefined
  }
  refuseForeignFile(path, loaded)
  const connection = connectToRead(path, busyTimeout)
  return orClose(connection, () => {
    connection.pragma('schema_version')
    return connection
  })
}
