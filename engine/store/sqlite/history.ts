import type Database from 'better-sqlite3'
import { sql } from 'drizzle-orm'
import { defaultHistoryDays, entryOf, expiryOf, history, maxSwept, type RecordedChange } from '../collection/history.ts'
import type { TableWithId } from '../collection/row.ts'
import { encode, insertInto, sqlTextOf } from './statements.ts'

/** Prepares what records a change, in the transaction of the change. */
export function prepareHistory(connection: Database.Database, table: TableWithId, days = defaultHistoryDays) {
  const insertion = insertInto(history)
  const insert = insertion(connection)
  const sweep = prepareSweep(connection, days)
  return (made: RecordedChange) => {
    const now = new Date()
    const entry = entryOf(table, made, days, now)
    if (entry) insert(...insertion.fields.map((field) => Reflect.get(entry, field)))
    sweep(maxSwept.byChange, now)
  }
}

/** Deletes the oldest entries that have expired, up to a limit. If there is none, it needs no lock. */
export function prepareSweep(
  connection: Database.Database,
  days = defaultHistoryDays,
): (limit: number, now: Date) => void {
  const { id, at } = history
  const expired = sql`SELECT ${id} FROM ${history} WHERE ${at} < ? ORDER BY ${at} LIMIT ? + 0`
  const select = connection.prepare<unknown[], bigint>(sqlTextOf(expired)).pluck()
  const remove = connection.prepare<[bigint]>(sqlTextOf(sql`DELETE FROM ${history} WHERE ${id} = ?`))
  return connection.transaction((limit: number, now: Date) => {
    for (const each of select.all(encode(at, expiryOf(days, now)), limit)) remove.run(each)
  })
}
