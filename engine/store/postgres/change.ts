import { getTableName, type SQL, sql } from 'drizzle-orm'
import { type ChangeFunctions, prepareChange, type RowChange } from '../collection/change.ts'
import type { Adds, WithKind } from '../collection/derived.ts'
import { RuleViolation, StoreUnavailable } from '../collection/errors.ts'
import type { RecordedChange } from '../collection/history.ts'
import { inputOf } from '../collection/mutation.ts'
import { columnOf, type Entity, fieldsOf, idOf, listOf } from '../collection/row.ts'
import type { AnyPostgresMutation, BatchMutation, PostgresTable, Queries, Result } from './collection.ts'
import { MutationError } from './connection/failure.ts'
import { recordFields, recordingOf, recordsOf, writesOfHistory } from './history.ts'
import { columnsOf, entityMapper, insertInto, parameter, prepared, sqlTextOf } from './statements.ts'

export function mutationsOf(table: PostgresTable, hasHistory = false, functions: ChangeFunctions = {}) {
  const run = changeIn(table, hasHistory, functions)
  const change = (write: SQL): WithKind<BatchMutation> => ({
    kind: 'changes',
    run,
    hasOrderedIds: false,
    probe: [write, ...(hasHistory ? writesOfHistory : [])].map((each) => `EXPLAIN ${sqlTextOf(each)}`).join(';'),
  })
  // This needs the right to update a column.
  const update = change(sql`SELECT FROM ${table} FOR UPDATE`)
  const changes = Object.fromEntries(Object.keys(functions).map((name) => [name, update]))
  return { create: insertInto(table), update, remove: change(sql`DELETE FROM ${table}`), ...changes }
}

export function mutationOf(mutation: AnyPostgresMutation): BatchMutation & Adds {
  return {
    kind: 'adds',
    hasOrderedIds: true,
    ...mutation,
    async run(client, rows) {
      const results: Result[] = []
      // Safe: the values are those of its fields.
      for (const values of rows) results.push(await mutation.run(client, inputOf(mutation.fields, values) as never))
      return results
    },
  }
}

const rowLocked = 'A row cannot be changed, because another program has locked it. End the transaction of that program.'

/**
 * Runs updates, removals and the changes of a collection: see `changeMethodOf`. It reads and locks rows, changes them here,
 * and writes them. Several calls of a batch may change one row: each sees what those before it have made of it, and has a
 * statement of its own, so that a constraint can refuse it alone. A row that another program has locked is not waited for,
 * because all mutations would wait.
 */
function changeIn(table: PostgresTable, hasHistory: boolean, functions: ChangeFunctions): BatchMutation['run'] {
  const { changeable } = fieldsOf(table)
  const text = sqlOf(table, hasHistory)
  const ofRecords = hasHistory ? recordFields : []
  const lock = prepared(text.lock, ['id'])
  const exist = prepared(text.exist, ['id'])
  const update = prepared(text.update, ['id', ...changeable, ...ofRecords])
  const remove = prepared(text.remove, ['id', ...ofRecords])
  const toEntity = entityMapper(table)
  const changeRow = prepareChange(table, functions)

  /** The rows by their ids, and an error for each that another program has locked. */
  async function lockRows(client: Queries, ids: bigint[]) {
    const { rows } = await client.query<unknown[]>({ ...lock, values: [ids], rowMode: 'array' })
    const found = new Map<bigint, Entity<PostgresTable> | StoreUnavailable>(
      rows.map(toEntity).map((row) => [idOf(row), row]),
    )
    const missing = ids.filter((id) => !found.has(id))
    if (missing.length === 0) return found
    const locked = await client.query<[bigint]>({ ...exist, values: [missing], rowMode: 'array' })
    for (const [id] of locked.rows) found.set(id, new StoreUnavailable(rowLocked, { failure: 'busy' }))
    return found
  }

  /** What a change throws is the result of its call alone. */
  function resultOf(row: Entity<PostgresTable>, call: RowChange) {
    try {
      return { row, ...changeRow(row, call) }
    } catch (cause) {
      return new MutationError('', { cause })
    }
  }

  async function write(
    client: Queries,
    writes: RecordedChange[],
    isRemoval: boolean,
    historyDays?: number,
  ): Promise<void> {
    if (writes.length === 0) return
    const ids = writes.map(({ row }) => idOf(row))
    const fields = changeable.map((field) =>
      writes.map(({ changed }): unknown => Reflect.get(changed ?? {}, field) ?? null),
    )
    const records = hasHistory ? recordsOf(table, writes, historyDays) : []
    const values = [ids, ...(isRemoval ? [] : fields), ...records]
    const { rows } = await client.query<{ count: bigint }>({ ...(isRemoval ? remove : update), values })
    if (Number(rows[0]?.count) !== writes.length)
      throw new RuleViolation('A trigger of another program has ignored a change.', getTableName(table))
  }

  return async (client, batch, historyDays) => {
    // Safe: the value is that of `changeMethodOf`.
    const calls = batch.map(([call]) => call as RowChange)
    const current = await lockRows(client, [...new Set(calls.map(({ id }) => id))])
    const results = new Map<RowChange, Result>()
    for (let rest = calls; rest.length > 0; rest = rest.filter((call) => !results.has(call))) {
      const writes: RecordedChange[] = []
      // The first call of each row.
      for (const call of new Map(rest.toReversed().map((call) => [call.id, call])).values()) {
        const { id } = call
        const found = current.get(id)
        const result = !found || found instanceof Error ? found : resultOf(found, call)
        if (!result || result instanceof Error) {
          results.set(call, result)
          continue
        }
        const { row, changed, fields } = result
        results.set(call, changed ?? { id })
        if (changed && fields.length === 0) continue
        writes.push({ call, row, changed })
        if (changed) current.set(id, changed)
        else current.delete(id)
      }
      const [kept, removed] = [writes.filter(({ changed }) => changed), writes.filter(({ changed }) => !changed)]
      await write(client, kept, false, historyDays)
      await write(client, removed, true, historyDays)
    }
    return calls.map((call) => results.get(call))
  }
}

function sqlOf(table: PostgresTable, hasHistory: boolean) {
  const columns = fieldsOf(table).changeable.map((field) => ({ field, column: columnOf(table, field) }))
  const names = columns.map(({ column }) => sql.identifier(column.name))
  const ids = parameter('id', 'bigint[]')
  const arrays = columns.map(({ field, column }) => parameter(field, `${column.getSQLType()}[]`))
  const sets = names.map((name) => sql`${name} = "new rows".${name}`)
  const all = (write: SQL) => sql`WITH "written rows" AS (${write} RETURNING 1)
    ${hasHistory ? recordingOf(sql`cardinality(${ids})`) : sql``}
    SELECT count(*) FROM "written rows"`
  return {
    lock: sql`SELECT ${columnsOf(table)} FROM ${table} WHERE ${table.id} = ANY (${ids}) FOR UPDATE SKIP LOCKED`,
    exist: sql`SELECT ${table.id} FROM ${table} WHERE ${table.id} = ANY (${ids})`,
    update: all(sql`UPDATE ${table} SET ${listOf(sets)}
      FROM unnest(${listOf([ids, ...arrays])}) AS "new rows" ("id of the row", ${listOf(names)})
      WHERE ${table.id} = "id of the row"`),
    remove: all(sql`DELETE FROM ${table} WHERE ${table.id} = ANY (${ids})`),
  }
}
