import { getTableColumns, getTableName, type Table } from 'drizzle-orm'
import { index, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { changedFields, type RowChange } from './change.ts'
import { decodeResult, encodeResult } from './idempotency.ts'
import type { PageQuery } from './query.ts'
import { type Entity, idOf } from './row.ts'
import { int64, timestamp, timestampCheck } from './schema.ts'

/** The history of a collection that opts in: each change and each removal of a row writes an entry in its transaction. */

/** If a clock was wrong, a lower id may have a later time. So the time decides what expires. */
export const history = sqliteTable(
  'history',
  {
    id: int64('id').primaryKey(),
    at: timestamp('at').notNull(),
    /** NULL if the change was made without an API key. */
    keyName: text('key_name'),
    /** The collection, by the name of its table. */
    tableName: text('collection').notNull(),
    rowId: int64('row_id').notNull(),
    /** JSON by the names of the fields: of an update those that it has changed, of a removal all. */
    before: text().notNull(),
    /** NULL if the row was removed. */
    after: text(),
    /** NULL if the change was made without one. */
    idempotencyKey: text('idempotency_key'),
  },
  (entry) => [
    index('history_by_collection').on(entry.tableName),
    index('history_by_row').on(entry.tableName, entry.rowId),
    index('history_by_time').on(entry.at),
    timestampCheck(entry.at),
  ],
)

export const defaultHistoryDays = 400

/** The maximum number of expired entries that a change deletes, and a start. A change adds one entry, so two are enough. */
export const maxSwept = { byChange: 2, byStart: 1_000 }

/** The time before which entries have expired. */
export function expiryOf(days: number, now: Date): Date {
  return new Date(now.getTime() - days * 24 * 3_600_000)
}

/** What a call has made of a row; `changed` is undefined after a removal. */
export interface RecordedChange {
  call: Pick<RowChange, 'by' | 'key'>
  row: object
  changed: object | undefined
}

/** The entry of a change. None if nothing was changed, or no history is kept. */
export function entryOf(
  table: Table,
  { call, row, changed }: RecordedChange,
  days: number,
  at: Date,
): Omit<typeof history.$inferSelect, 'id'> | undefined {
  const fields = Object.keys(getTableColumns(table)).filter((name) => name !== 'id')
  const names = changed ? changedFields(fields, row, changed) : fields
  if (days === 0 || (changed && names.length === 0)) return undefined
  const partOf = (part: object) =>
    encodeResult(Object.fromEntries(names.map((name) => [name, Reflect.get(part, name)])))
  const after = changed ? partOf(changed) : null
  const [tableName, rowId] = [getTableName(table), idOf(row)]
  return { at, keyName: call.by, idempotencyKey: call.key, tableName, rowId, before: partOf(row), after }
}

export interface HistoryEntry<T extends Table> {
  id: bigint
  at: Date
  /** The name of the API key. Absent if the change was made without one. */
  keyName?: string | undefined
  /** What tells the calls of this API key apart. Absent if the change was made without one. */
  idempotencyKey?: string | undefined
  rowId: bigint
  kind: 'update' | 'remove'
  /** The fields that an update has changed, or all fields of a removed row. */
  before: Partial<Omit<Entity<T>, 'id'>>
  /** The same fields, without those that are empty now. Absent if the row was removed. */
  after?: Partial<Omit<Entity<T>, 'id'>> | undefined
}

/** A page of at most `limit` changes, the newest first: of one row, or of all. */
export interface HistoryQuery {
  limit: number
  /** The id of the change after which the page begins. */
  cursor?: bigint | undefined
  rowId?: bigint | undefined
}

/** Makes the method that reads the history of a collection. `read` reads pages of the table of all entries, the newest first. */
export function historyWith<T extends Table>(
  table: T,
  read: (query: PageQuery<typeof history, 'rowId' | 'tableName'>) => Promise<Entity<typeof history>[]>,
) {
  return async ({ limit, cursor, rowId }: HistoryQuery): Promise<HistoryEntry<T>[]> => {
    const last = cursor === undefined ? undefined : cursor - 1n
    const rows = await read({ limit, cursor: last, tableName: getTableName(table), rowId })
    return rows.map(({ tableName: _, before, after, ...entry }) => ({
      ...entry,
      ...(after === undefined ? { kind: 'remove' } : { kind: 'update', after: decode(table, after) }),
      before: decode(table, before),
    }))
  }
}

/** Leaves out the fields that the table no longer has, and the values that their fields no longer allow. */
function decode<T extends Table>(table: T, text: string): Partial<Omit<Entity<T>, 'id'>> {
  const columns = getTableColumns(table)
  const known = Object.entries(decodeResult(text)).filter(
    ([name, value]) => columns[name] && columns[name].enumValues?.includes(value) !== false,
  )
  // Safe: the values are those of fields of the table.
  return Object.fromEntries(known) as Partial<Omit<Entity<T>, 'id'>>
}
