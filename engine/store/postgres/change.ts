import { getTableColumns, getTableName, type SQL, sql } from 'drizzle-orm'
import { type ClientBase, Pool } from 'pg'
import { type ChangeValues, changeRow } from '../collection/change.ts'
import { columnOf, fieldsOfNew, idOf, listOf } from '../collection/entity.ts'
import { RowChanged } from '../errors.ts'
import type { AnyMutation, DerivedMutations, Result, TableWithId } from './engine.ts'
import { entityMapper, insertInto, textOf } from './statements.ts'
import { lockStatement } from './transaction.ts'

/** The mutations that are derived from a table. */
export function mutationsOf(table: TableWithId): DerivedMutations {
  const run = changeIn(table)
  const { given } = fieldsOfNew(table)
  const sets = given.map((field) => sql`${sql.identifier(columnOf(table, field).name)} = NULL`)
  const change = (text: SQL): AnyMutation => ({
    run,
    hasOrderedIds: false,
    isOneStatement,
    probe: `EXPLAIN ${textOf(text)}`,
  })
  return {
    create: insertInto(table),
    update: change(sql`UPDATE ${table} SET ${listOf(sets)}`),
    remove: change(sql`DELETE FROM ${table}`),
  }
}

/** Whether the calls change or remove different rows. They are also read before, which changes nothing. */
function isOneStatement(calls: unknown[][]): boolean {
  const kinds = new Set(calls.map(([, set]) => set === null))
  return kinds.size === 1 && new Set(calls.map(([id]) => id)).size === calls.length
}

/** The rows after a statement's changes; undefined for a removed one. */
interface Write {
  id: bigint
  version: unknown
  row: object | undefined
}

/**
 * Runs updates and removals, each a {@link ChangeValues}. It reads rows, changes them here, and writes those whose version is
 * still the same. If another program has changed one of them meanwhile, the statement fails as a whole, and all calls run
 * again in a transaction, which locks what it reads. Several calls of a batch may change one row: each sees what those before
 * it have made of it, and has a statement of its own, so that a constraint can refuse it alone.
 */
function changeIn(table: TableWithId): AnyMutation['run'] {
  const { read, lock, update, remove, given } = statementsOf(table)
  const toEntity = entityMapper(table)

  async function write(database: Pool | ClientBase, rows: Write[], isRemoval: boolean): Promise<void> {
    if (rows.length === 0) return
    const values = [rows.length, rows.map(({ id }) => id), rows.map(({ version }) => version)]
    const fields = given.map((field) => rows.map(({ row }): unknown => Reflect.get(row ?? {}, field) ?? null))
    await database.query(isRemoval ? { ...remove, values } : { ...update, values: [...values, ...fields] })
  }

  return async (database, batch) => {
    // Safe: the rows are those of `changeMethodOf`.
    const calls = batch as ChangeValues[]
    const results = new Map<ChangeValues, Result>()
    for (let rest = calls; rest.length > 0; rest = rest.filter((call) => !results.has(call))) {
      // The first call of each row.
      const turn = new Map(rest.toReversed().map((call) => [call[0], call]))
      const select = database instanceof Pool ? read : lock
      const { rows } = await database.query<unknown[]>({ ...select, values: [[...turn.keys()]], rowMode: 'array' })
      const writes = rows.flatMap((values): Write[] => {
        const version = values.pop()
        const row = toEntity(values)
        const call = turn.get(idOf(row))
        const changed = call && resultOf(() => changeRow(table, row, call))
        if (call) results.set(call, changed ?? { id: call[0] })
        return changed instanceof Error ? [] : [{ id: idOf(row), version, row: changed }]
      })
      for (const call of turn.values()) if (!results.has(call)) results.set(call, undefined)
      const [kept, removed] = [writes.filter(({ row }) => row), writes.filter(({ row }) => !row)]
      await write(database, kept, false)
      await write(database, removed, true)
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

function statementsOf(table: TableWithId) {
  const { given } = fieldsOfNew(table)
  const columns = given.map((field) => columnOf(table, field))
  const names = columns.map(({ name }) => sql.identifier(name))
  const array = (field: string, type: string) => sql`${sql.placeholder(field)}::${sql.raw(type)}[]`
  const arrays = columns.map((column, index) => array(given[index] ?? '', column.getSQLType()))
  const statement = (verb: string, text: SQL, fields: string[]) => ({
    name: `${verb}_${getTableName(table)}`,
    text: textOf(text, fields),
  })

  // PostgreSQL changes it with each version of a row.
  const version = sql`${table}.xmin`
  const read = sql`SELECT ${listOf(Object.values(getTableColumns(table)))}, ${version}::text FROM ${table}
    WHERE ${table.id} = ANY (${array('id', 'bigint')})`
  const [rowId, rowVersion] = [sql.identifier('id of the row'), sql.identifier('version of the row')]
  const own = ['count', 'id', 'version']
  const ownArrays = [array('id', 'bigint'), array('version', 'text')]
  const isAsRead = sql`${table.id} = given.${rowId} AND ${version} = given.${rowVersion}::xid`
  const writing = (write: SQL) => sql`WITH turn AS MATERIALIZED (${sql.raw(lockStatement('inserts'))}),
    written AS (${write} WHERE ${isAsRead} RETURNING 1)
    SELECT 1 / (count(*) = ${sql.placeholder('count')}::int)::int FROM written`

  return {
    given,
    read: statement('read', read, ['id']),
    // In the order of their ids, because other programs lock rows, too.
    lock: statement('lock', sql`${read} ORDER BY ${table.id} FOR UPDATE`, ['id']),
    update: statement(
      'update',
      writing(sql`UPDATE ${table} SET ${listOf(names.map((name) => sql`${name} = given.${name}`))}
        FROM turn, unnest(${listOf([...ownArrays, ...arrays])}) AS given (${listOf([rowId, rowVersion, ...names])})`),
      [...own, ...given],
    ),
    remove: statement(
      'remove',
      writing(
        sql`DELETE FROM ${table} USING turn, unnest(${listOf(ownArrays)}) AS given (${listOf([rowId, rowVersion])})`,
      ),
      own,
    ),
  }
}
