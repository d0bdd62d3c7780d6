import { getTableColumns, getTableName, type SQL, sql } from 'drizzle-orm'
import type { ClientBase, Pool } from 'pg'
import { type ChangeValues, changeRow } from '../collection/change.ts'
import { columnOf, type Entity, fieldsOfNew, idOf, listOf } from '../collection/entity.ts'
import { RowChanged } from '../errors.ts'
import type { AnyMutation, DerivedMutations, Result, TableWithId } from './engine.ts'
import { entityMapper, insertInto, textOf } from './statements.ts'

/** The mutations that are derived from a table. */
export function mutationsOf(table: TableWithId): DerivedMutations {
  const run = changeIn(table)
  const { given } = fieldsOfNew(table)
  const sets = given.map((field) => sql`${sql.identifier(columnOf(table, field).name)} = NULL`)
  const change = (text: SQL): AnyMutation => ({
    run,
    hasOrderedIds: false,
    isOneStatement: false,
    probe: `EXPLAIN ${textOf(text)}`,
  })
  return {
    create: insertInto(table),
    update: change(sql`UPDATE ${table} SET ${listOf(sets)}`),
    remove: change(sql`DELETE FROM ${table}`),
  }
}

/**
 * Runs updates and removals, each a {@link ChangeValues}. Several calls of a batch may change one row: each sees what those
 * before it have made of it, and is written by a statement of its own, so that a constraint can refuse it alone.
 */
function changeIn(table: TableWithId): AnyMutation['run'] {
  const { given } = fieldsOfNew(table)
  const columns = given.map((field) => columnOf(table, field))
  const names = listOf(columns.map(({ name }) => sql.identifier(name)))
  const arrayOf = (field: string, type: string) => sql`${sql.placeholder(field)}::${sql.raw(type)}[]`
  const ids = arrayOf('id', 'bigint')
  const own = sql.identifier('id of the row')
  const arrays = columns.map((column, index) => arrayOf(given[index] ?? '', column.getSQLType()))
  const sets = columns.map(({ name }) => sql`${sql.identifier(name)} = given.${sql.identifier(name)}`)
  const statement = (verb: string, text: SQL, fields = ['id']) => ({
    name: `${verb}_${getTableName(table)}`,
    text: textOf(text, fields),
  })
  // In the order of their ids, because other programs lock rows, too.
  const lock = statement(
    'lock',
    sql`SELECT ${listOf(Object.values(getTableColumns(table)))} FROM ${table} WHERE ${table.id} = ANY (${ids})
      ORDER BY ${table.id} FOR UPDATE`,
  )
  const update = statement(
    'update',
    sql`UPDATE ${table} SET ${listOf(sets)} FROM unnest(${listOf([ids, ...arrays])}) AS given (${own}, ${names})
      WHERE ${table.id} = given.${own}`,
    ['id', ...given],
  )
  const remove = statement('remove', sql`DELETE FROM ${table} WHERE ${table.id} = ANY (${ids})`)
  const toEntity = entityMapper(table)

  /** Writes rows as they are now, and deletes those that are undefined. */
  async function write(database: Pool | ClientBase, rows: [id: bigint, row: object | undefined][]): Promise<void> {
    const kept = rows.flatMap(([id, row]) => (row ? [{ ...row, id }] : []))
    const removed = rows.filter(([, row]) => !row).map(([id]) => id)
    const values = ['id', ...given].map((field) => kept.map((row): unknown => Reflect.get(row, field) ?? null))
    if (kept.length > 0) await database.query({ ...update, values })
    if (removed.length > 0) await database.query({ ...remove, values: [removed] })
  }

  return async (database, batch) => {
    // Safe: the rows are those of `changeMethodOf`.
    const calls = batch as ChangeValues[]
    const ids = [...new Set(calls.map(([id]) => id))]
    const found = await database.query<unknown[]>({ ...lock, values: [ids], rowMode: 'array' })
    const rows = new Map(
      found.rows.map(toEntity).map((row): [bigint, Entity<TableWithId> | undefined] => [idOf(row), row]),
    )
    const results = new Map<ChangeValues, Result>()
    for (let rest = calls; rest.length > 0; rest = rest.filter((call) => !results.has(call))) {
      // The first call of each row.
      const turn = [...new Map(rest.toReversed().map((call) => [call[0], call])).values()]
      for (const call of turn) results.set(call, change(rows, call))
      const changed = turn.filter((call) => results.get(call) && !(results.get(call) instanceof Error))
      await write(
        database,
        changed.map(([id]) => [id, rows.get(id)]),
      )
    }
    return calls.map((call) => results.get(call))
  }

  /** Replaces a row by what a call makes of it. */
  function change(rows: Map<bigint, Entity<TableWithId> | undefined>, call: ChangeValues): Result {
    const [id] = call
    const row = rows.get(id)
    if (!row) return undefined
    try {
      const changed = changeRow(table, row, call)
      rows.set(id, changed)
      return changed ?? { id }
    } catch (error) {
      if (error instanceof RowChanged) return error
      throw error
    }
  }
}
