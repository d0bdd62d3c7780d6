import { type SQL, sql, type Table } from 'drizzle-orm'
import type { ClientBase } from 'pg'
import { defaultHistoryDays, entryOf, expiryOf, maxSwept, type RecordedChange } from '../collection/history.ts'
import { parameter, query } from './statements.ts'

/** The placeholders of {@link recordingOf}. Their spaces keep them apart from the names of fields. */
const [recorded, expiry] = ['recorded entries', 'time of expiry'] as const
export const recordFields = [recorded, expiry]

export function recordsOf(table: Table, made: RecordedChange[], days = defaultHistoryDays): unknown[] {
  const now = new Date()
  const entries = made.flatMap((each) => entryOf(table, each, days, now) ?? [])
  // JSON.stringify refuses a bigint. PostgreSQL converts the text.
  return [JSON.stringify(entries.map((entry) => ({ ...entry, rowId: String(entry.rowId) }))), expiryOf(days, now)]
}

/** Statements that need the same rights. */
export const writesOfHistory = [
  sql`INSERT INTO history DEFAULT VALUES`,
  sql`DELETE FROM history`,
  sql`SELECT FROM history FOR UPDATE`,
]

/** Parts of a statement that insert the entries of its changes, whose number is the count, and delete expired entries. */
export function recordingOf(count: SQL): SQL {
  return sql`, "recorded changes" AS (INSERT INTO history (at, key_name, idempotency_key, collection, row_id, before, after)
      SELECT at, "keyName", "idempotencyKey", "tableName", "rowId", before, after FROM json_to_recordset(${parameter(recorded, 'json')})
        AS entry (at timestamptz, "keyName" text, "idempotencyKey" text, "tableName" text, "rowId" bigint, before text,
          after text)),
    "swept entries" AS (${sweeping(parameter(expiry, 'timestamptz'), sql`${count} * ${sql.raw(String(maxSwept.byChange))}`)})`
}

/**
 * Deletes expired entries, but skips those that another instance is deleting, so that instances do not wait for each other.
 * With an array, PostgreSQL runs the subquery only once.
 */
function sweeping(time: SQL, limit: SQL): SQL {
  return sql`DELETE FROM history WHERE id = ANY (ARRAY(
    SELECT id FROM history WHERE at < ${time} ORDER BY at LIMIT ${limit} FOR UPDATE SKIP LOCKED))`
}

/** Deletes the oldest entries that have expired, as a start does. */
export async function sweepHistory(client: ClientBase, days = defaultHistoryDays): Promise<void> {
  await query(client, sweeping(sql`${expiryOf(days, new Date())}`, sql`${maxSwept.byStart}`))
}
