import { dirname } from 'node:path'
import type Database from 'better-sqlite3'
import { getTableColumns, getTableName, type SQL, sql, type Table } from 'drizzle-orm'
import { reasons, UnusableDatabase } from '../collection/errors.ts'
import { listOf } from '../collection/row.ts'
import type { StoreDefinition } from '../collection.ts'
import { type OnMigrate, refuseOtherRelease } from '../database/migrations.ts'
import { tablesOf } from '../sqlite/collection.ts'
import { checkPages, connect, connectToRead, lockDatabase, orClose } from '../sqlite/file/connection.ts'
import { orUnusable, unusable } from '../sqlite/file/diagnosis.ts'
import { isBusy, toFailure, violatesConstraint } from '../sqlite/file/failure.ts'
import { realPathOf, syncFolder } from '../sqlite/file/files.ts'
import { refuseForeignFile } from '../sqlite/file/header.ts'
import { readJournal } from '../sqlite/migrate.ts'
import { createOrMigrate } from '../sqlite/opening/create-or-migrate.ts'
import { query, sqlTextOf } from '../sqlite/statements.ts'
import type { CopyDatabase, TextRow } from './driver.ts'

export async function openSource(path: string, definition: StoreDefinition): Promise<CopyDatabase> {
  const loaded = await definition.forSqlite()
  return orUnusable(path, () => {
    refuseForeignFile(path, loaded)
    const connection = openAlone(path)
    return orClose(connection, () => {
      connection.exec('BEGIN')
      refuseOtherRelease(readJournal(connection), loaded, path)
      checkPages(connection, 'quick_check')
      return methods(path, tablesOf(loaded.collections), connection)
    })
  })
}

export async function openTarget(
  path: string,
  definition: StoreDefinition,
  onMigrate?: OnMigrate,
): Promise<CopyDatabase> {
  const loaded = await definition.forSqlite()
  return orUnusable(path, () => {
    createOrMigrate({ path, loaded, migrate: false, onMigrate })
    const connection = connect(path, { busyTimeout: 5_000 })
    return orClose(connection, () => {
      connection.exec('BEGIN IMMEDIATE')
      return methods(path, tablesOf(loaded.collections), connection)
    })
  })
}

/** Keeps other processes out. A file that cannot be written can be read, because no service has it open. */
function openAlone(path: string): Database.Database {
  try {
    const connection = lockDatabase(path)
    connection.pragma('ignore_check_constraints = ON')
    return connection
  } catch (error) {
    const failure = toFailure(error)
    if (isBusy(failure)) throw new UnusableDatabase(path, reasons.open)
    // In WAL mode, the lock is in the file, and needs the right to write it.
    const remedy = `copy it and, if there is one, ${path}-wal, to a folder that you can write, and copy from there`
    if (failure.code === 'SQLITE_IOERR_LOCK') throw new UnusableDatabase(path, `it cannot be written; ${remedy}`)
    if (!/^SQLITE_(READONLY|CANTOPEN)/.test(failure.code)) throw error
    return connectToRead(path)
  }
}

function methods(path: string, tables: Table[], connection: Database.Database): CopyDatabase {
  const run = async (statement: SQL) => orUnusable(path, () => query<TextRow>(connection, statement))
  return {
    name: path,
    emptying: 'delete its files',
    // The lock keeps them out.
    async refuseOthers() {},
    tables,
    query: run,
    asText: (column) => sql`CAST(${column} AS text)`,
    async insert(table, rows, toError) {
      const columns = Object.values(getTableColumns(table))
      // The tables are STRICT: SQLite converts the digits of an integer exactly.
      const statement = sql`INSERT INTO ${table} (${listOf(columns.map(({ name }) => sql.identifier(name)))})
        VALUES (${listOf(columns.map(() => sql`?`))})`
      const insert = orUnusable(path, () => connection.prepare(sqlTextOf(statement)))
      for (const row of rows) {
        try {
          insert.run(row)
        } catch (error) {
          const failure = toFailure(error)
          throw violatesConstraint(failure) ? toError(failure.message, row) : unusable(path, error)
        }
      }
    },
    async lastId(table) {
      // sqlite_sequence has a row only for a table with AUTOINCREMENT, and only after the first insert.
      const [row] = await run(
        sql`SELECT CAST(max(CAST(seq AS integer)) AS text) FROM sqlite_sequence WHERE name = ${getTableName(table)}`,
      )
      return BigInt(row?.[0] ?? 0)
    },
    async setLastId(table, id) {
      const name = getTableName(table)
      await run(sql`DELETE FROM sqlite_sequence WHERE name = ${name}`)
      await run(sql`INSERT INTO sqlite_sequence (name, seq)
        SELECT name, ${id} FROM sqlite_schema WHERE type = 'table' AND name = ${name} AND sql LIKE '%AUTOINCREMENT%'`)
    },
    async commit() {
      orUnusable(path, () => {
        connection.exec('COMMIT')
        syncFolder(dirname(realPathOf(path)))
      })
    },
    async [Symbol.asyncDispose]() {
      connection.close()
    },
  }
}
