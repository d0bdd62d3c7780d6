import type Database from 'better-sqlite3'
import type { SQL } from 'drizzle-orm'
import { SQLiteSyncDialect } from 'drizzle-orm/sqlite-core'

const dialect = new SQLiteSyncDialect()

/** Runs a statement with its values. Returns rows as arrays. */
export function query<Row extends unknown[]>(connection: Database.Database, statement: SQL): Row[] {
  const { sql, params } = dialect.sqlToQuery(statement)
  const prepared = connection.prepare<unknown[], Row>(sql)
  if (prepared.reader) return prepared.raw().all(...params)
  prepared.run(...params)
  return []
}
