import { getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { ClientBase } from 'pg'
import { type ChangeValues, changeRow } from '../collection/change.ts'
import { RowChanged } from '../collection/errors.ts'
import { columnOf, fieldsOfNew, idOf, listOf } from '../collection/row.ts'
import type { AnyMutation, DerivedMutations, Result, TableWithId } from './collection.ts'
import { recordFields, recordingOf, recordsOf } from './history.ts'
import { entityMapper, insertInto, prepared, sqlTextOf } from './statements.ts'
import { lockStatement } from './transaction.ts'

export function mutationsOf(table: TableWithId, hasHistory = false): DerivedMutations {
  const run = changeIn(table, hasHistory)
  const { update, remove } = sqlOf(table, hasHistory, (_field, type) => sql`NULL::${sql.raw(type)}`)
  const change = (text: SQL): AnyMutation => ({
    run,
    hasOrderedIds: false,
    // Whether the calls concern different rows. These are also read before, which changes nothing.
    isOneStatement: (calls) => new Set(calls.map(([id]) => id)).size === calls.length,
    probe: `EXPLAIN ${sqlTextOf(text)}`,
  })
  return { create: insertInto(table), update: change(update), remove: change(remove) }
}

/** A row before and after a statement's change; undefined after a removal. */
interface Write {
  version: unknown
  by: string | null
  row: object
  changed: object | undefined
}

/**
 * Runs updates and removals, each a {@link ChangeValues}. It reads rows, changes them here, and writes those whose version is
 * still the same. If another program has changed one of them meanwhile, the statement fails as a whole, and all calls run
 * again in a transaction, which locks what it reads. Several calls of a batch may change one row: each sees what those before
 * it have made of it, and has a statement of its own, so that a constraint can refuse it alone.
 */
function changeIn(table: TableWithId, hasHistory: boolean): AnyMutation['run'] {
  const { read, lock, update, remove, given } = statementsOf(table, hasHistory)
  const toEntity = entityMapper(table)

  async function write(client: ClientBase, rows: Write[], isRemoval: boolean, historyDays?: number): Promise<void> {
    if (rows.length === 0) return
    const values = [rows.length, rows.map(({ row }) => idOf(row)), rows.map(({ version }) => version)]
    const fields = given.map((field) => rows.map(({ changed }): unknown => Reflect.get(changed ?? {}, field) ?? null))
    const records = hasHistory ? recordsOf(table, rows, historyDays) : []
    const statement = isRemoval ? remove : update
    await client.query({ ...statement, values: [...values, ...(isRemoval ? [] : fields), ...records] })
  }

  return async (client, batch, isLocked, historyDays) => {
    // Safe: the rows are those of `changeMethodOf`.
    const calls = batch as ChangeValues[]
    const results = new Map<ChangeValues, Result>()
    for (let rest = calls; rest.length > 0; rest = rest.filter((call) => !results.has(call))) {
      // The first call of each row.
      const turn = new Map(rest.toReversed().map((call) => [call[0], call]))
      const select = isLocked ? lock : read
      const { rows } = await client.query<unknown[]>({ ...select, values: [[...turn.keys()]], rowMode: 'array' })
      const writes = rows.flatMap((values): Write[] => {
        const version = values.pop()
        const row = toEntity(values)
        const call = turn.get(idOf(row))
        if (!call) return []
        const [id, by, set] = call
        const changed = resultOf(() => changeRow(table, row, call))
        results.set(call, changed ?? { id })
        const hasNoEffect = set === '' || changed instanceof Error
        return hasNoEffect ? [] : [{ version, by, row, changed }]
      })
      for (const call of turn.values()) if (!results.has(call)) results.set(call, undefined)
      const [kept, removed] = [writes.filter(({ changed }) => changed), writes.filter(({ changed }) => !changed)]
      await write(client, kept, false, historyDays)
      await write(client, removed, true, historyDays)
    }
    return calls.map((call) => results.get(call))
  }
}

/** What is thrown because the row is not as expected is a result. */
function resultOf<T>(change: () => T): T | RowChanged {
  try {
    return change()
  } catch (error) {
    if (error instanceof RowChanged) return error
    throw error
  }
}

function statementsOf(table: TableWithId, hasHistory: boolean) {
  const { given } = fieldsOfNew(table)
  const parameter = (field: string, type: string) => sql`${sql.placeholder(field)}::${sql.raw(type)}`
  const { read, lock, update, remove } = sqlOf(table, hasHistory, parameter)
  const records = hasHistory ? recordFields : []
  return {
    given,
    read: prepared(read, ['id']),
    lock: prepared(lock, ['id']),
    update: prepared(update, ['count', 'id', 'version', ...given, ...records]),
    remove: prepared(remove, ['count', 'id', 'version', ...records]),
  }
}

/** @param parameter a value of this type for a field, or an array of them */
function sqlOf(table: TableWithId, hasHistory: boolean, parameter: (field: string, type: string) => SQL) {
  const columns = fieldsOfNew(table).given.map((field) => ({ field, column: columnOf(table, field) }))
  const names = columns.map(({ column }) => sql.identifier(column.name))
  const [count, ids, versions] = [
    parameter('count', 'int'),
    parameter('id', 'bigint[]'),
    parameter('version', 'text[]'),
  ]
  const arrays = columns.map(({ field, column }) => parameter(field, `${column.getSQLType()}[]`))
  // PostgreSQL changes it with each version of a row.
  const version = sql`${table}.xmin`
  const read = sql`SELECT ${listOf(Object.values(getTableColumns(table)))}, ${version}::text FROM ${table}
    WHERE ${table.id} = ANY (${ids})`
  const rows = (more: SQL[]) => sql`"lock of the batch", unnest(${listOf([ids, versions, ...more])}) AS "rows as read"`
  // The lock comes first, as in every batch. A division by zero undoes the statement if a row was changed meanwhile.
  const all = (write: SQL) => sql`WITH "lock of the batch" AS MATERIALIZED (${sql.raw(lockStatement('inserts'))}),
    "written rows" AS (${write}
      WHERE ${table.id} = "rows as read"."id of the row" AND ${version} = "rows as read"."version of the row"::xid
      RETURNING 1)${hasHistory ? recordingOf(count, parameter) : sql``}
    SELECT 1 / (count(*) = ${count})::int FROM "written rows"`
  const sets = names.map((name) => sql`${name} = "rows as read".${name}`)
  const own = sql`"id of the row", "version of the row"`
  return {
    read,
    // In the order of their ids, because other programs lock rows, too.
    lock: sql`${read} ORDER BY ${table.id} FOR UPDATE`,
    // A table without fields to set is never updated.
    update:
      sets.length === 0
        ? read
        : all(sql`UPDATE ${table} SET ${listOf(sets)} FROM ${rows(arrays)} (${listOf([own, ...names])})`),
    remove: all(sql`DELETE FROM ${table} USING ${rows([])} (${own})`),
  }
}
