import { dirname } from 'node:path'
import type Database from 'better-sqlite3'
import { type OnMigrate, refuseOtherRelease } from '../migrations.ts'
import type { Loaded } from '../resource.ts'
import type { ResourceList } from '../resource-list.ts'
import { unusable } from '../sqlite/diagnosis/diagnosis.ts'
import { checkPages, connect, connectToRead, orClose } from '../sqlite/file/connection.ts'
import { toFailure } from '../sqlite/file/failure.ts'
import { identify, realPathOf, syncFolder } from '../sqlite/file/files.ts'
import { refuseForeignFile } from '../sqlite/file/header.ts'
import { readJournal } from '../sqlite/migrate.ts'
import { type SqliteResource, tablesOf } from '../sqlite/resource.ts'
import { prepareDatabase } from '../sqlite/store/prepare.ts'
import { type CopyDatabase, describeTables, type Row, RowsRefused, refuseSameDatabase } from './driver.ts'

/** Milliseconds to wait for the lock of another process. */
const busyTimeout = 5_000

export async function openSource(path: string, list: ResourceList): Promise<CopyDatabase> {
  const { migrations, resources } = await list.forSqlite()
  return attempt(path, () => {
    refuseForeignFile(path)
    const connection = connectToRead(path, busyTimeout)
    return orClose(connection, () => {
      connection.exec('BEGIN')
      refuseOtherRelease(readJournal(connection), migrations, path)
      checkPages(connection, 'quick_check')
      return methods(path, resources, connection)
    })
  })
}

export async function openTarget(
  path: string,
  list: ResourceList,
  source: string,
  onMigrate?: OnMigrate,
): Promise<CopyDatabase> {
  const loaded = await list.forSqlite()
  return attempt(path, () => {
    refuseSameDatabase(identify(path), source, path)
    prepareDatabase(path, loaded, { migrate: false, onMigrate })
    const connection = connect(path, { busyTimeout })
    return orClose(connection, () => {
      connection.exec('BEGIN IMMEDIATE')
      return methods(path, loaded.resources, connection)
    })
  })
}

function methods(
  path: string,
  resources: Loaded<SqliteResource>['resources'],
  connection: Database.Database,
): CopyDatabase {
  return {
    name: path,
    identity: identify(path) ?? '',
    tables: describeTables(tablesOf(resources)),
    async count({ name }) {
      return attempt(path, () => Number(connection.prepare(`SELECT count(*) FROM ${name}`).pluck().get()))
    },
    async read({ name, columns }, from, limit) {
      const values = columns.map((column) => `CAST(${column.name} AS TEXT)`)
      const sql = `SELECT ${values} FROM ${name} WHERE id >= ? ORDER BY ${name}.id LIMIT ?`
      return attempt(path, () => connection.prepare<[bigint, number], Row>(sql).raw().all(from, limit))
    },
    async insert({ name, columns }, rows) {
      // The tables are STRICT: SQLite converts the digits of an integer exactly.
      const sql = `INSERT INTO ${name} (${columns.map((column) => column.name)}) VALUES (${columns.map(() => '?')})`
      attempt(path, () => {
        const statement = connection.prepare(sql)
        for (const row of rows) statement.run(row)
      })
    },
    async lastId({ name }) {
      // sqlite_sequence has a row only for a table with AUTOINCREMENT, and only after the first insert.
      const sql = `SELECT max(coalesce((SELECT max(CAST(seq AS INTEGER)) FROM sqlite_sequence WHERE name = ?), 0),
        coalesce((SELECT max(id) FROM ${name}), 0))`
      return attempt(path, () => connection.prepare<[string], bigint>(sql).pluck().get(name) ?? 0n)
    },
    async setLastId({ name }, id) {
      attempt(path, () => setLastId(connection, name, id))
    },
    async commit() {
      attempt(path, () => {
        connection.exec('COMMIT')
        syncFolder(dirname(realPathOf(path)))
      })
    },
    async close() {
      connection.close()
    },
  }
}

function setLastId(connection: Database.Database, table: string, id: bigint): void {
  const { changes } = connection.prepare('UPDATE sqlite_sequence SET seq = ? WHERE name = ?').run(id, table)
  if (changes > 0) return
  const sql = `INSERT INTO sqlite_sequence (name, seq)
    SELECT name, ? FROM sqlite_schema WHERE type = 'table' AND name = ? AND sql LIKE '%AUTOINCREMENT%'`
  connection.prepare(sql).run(id, table)
}

function attempt<T>(path: string, step: () => T): T {
  try {
    return step()
  } catch (error) {
    const { code, message } = toFailure(error)
    throw code.startsWith('SQLITE_CONSTRAINT') ? new RowsRefused(message, { cause: error }) : unusable(path, error)
  }
}
