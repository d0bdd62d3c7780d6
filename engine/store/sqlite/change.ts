import type Database from 'better-sqlite3'
import { getTableName, sql } from 'drizzle-orm'
import { type ChangeFunctions, prepareChange, type RowChange } from '../collection/change.ts'
import type { Adds } from '../collection/derived.ts'
import { RuleViolation } from '../collection/errors.ts'
import { inputOf } from '../collection/mutation.ts'
import { columnOf, fieldsOf, listOf, type TableWithId } from '../collection/row.ts'
import type { AnySqliteMutation, PreparedMutation } from './collection.ts'
import { prepareHistory } from './history.ts'
import { encode, insertInto, rowBy, sqlTextOf } from './statements.ts'

export function mutationsOf<T extends TableWithId>(table: T, hasHistory = false, functions: ChangeFunctions = {}) {
  const change = Object.assign(changeIn(table, hasHistory, functions), { kind: 'changes' as const })
  const changes = Object.fromEntries(Object.keys(functions).map((name) => [name, change]))
  return { create: insertInto(table), update: change, remove: change, ...changes }
}

export function mutationOf({ fields, prepare }: AnySqliteMutation): PreparedMutation & Adds {
  function prepareFlat(connection: Database.Database) {
    const run = prepare(connection)
    // Safe: the values are those of its fields.
    return (...values: unknown[]) => run(inputOf(fields, values) as never)
  }
  return Object.assign(prepareFlat, { kind: 'adds' as const, fields })
}

/** The maximum number of prepared statements that set some fields only. */
const maxUpdates = 32

/** The mutation that changes or deletes a row: see `changeMethodOf`. */
function changeIn(table: TableWithId, hasHistory: boolean, functions: ChangeFunctions): PreparedMutation {
  const { changeable } = fieldsOf(table)
  const changeRow = prepareChange(table, functions)

  return (connection, historyDays) => {
    const record = hasHistory ? prepareHistory(connection, table, historyDays) : () => {}
    const select = rowBy(table, 'id')(connection)
    const remove = connection.prepare<unknown[]>(sqlTextOf(sql`DELETE FROM ${table} WHERE ${table.id} = ?`))
    const prepared = new Map<string, ReturnType<typeof prepareUpdate>>()

    /** Sets only the fields of a call, because SQLite writes the index of a column that is set, also to its old value. */
    function updateOf(fields: string[]): ReturnType<typeof prepareUpdate> {
      const isKept = prepared.size < maxUpdates || prepared.has(fields.join())
      const set = isKept ? fields : changeable
      const update = prepared.get(set.join()) ?? prepareUpdate(connection, table, set)
      prepared.set(set.join(), update)
      return update
    }

    return (value) => {
      // Safe: it is that of `changeMethodOf`.
      const call = value as RowChange
      const { id } = call
      const row = select(id)
      if (!row) return undefined
      const { changed, fields } = changeRow(row, call)
      const written = changed ? fields.length > 0 && updateOf(fields)(changed, id) : remove.run(id)
      if (written && written.changes !== 1)
        throw new RuleViolation('A trigger of another program has ignored a change.', getTableName(table))
      record({ call, row, changed })
      return changed ?? { id }
    }
  }
}

function prepareUpdate(connection: Database.Database, table: TableWithId, fields: string[]) {
  const columns = fields.map((field) => columnOf(table, field))
  const places = columns.map(({ name }) => sql`${sql.identifier(name)} = ?`)
  const update = connection.prepare<unknown[]>(
    sqlTextOf(sql`UPDATE ${table} SET ${listOf(places)} WHERE ${table.id} = ?`),
  )
  return (row: object, id: bigint) =>
    update.run(...fields.map((field, index) => encode(columns[index], Reflect.get(row, field) ?? null)), id)
}
