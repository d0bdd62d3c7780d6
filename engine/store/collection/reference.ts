import { getTableColumns, getTableName, type Table } from 'drizzle-orm'
import type { RowChange } from './change.ts'
import type { WithKind } from './derived.ts'
import { conflicts, RowConflict } from './errors.ts'
import { inputOf } from './mutation.ts'

/** A call of a mutation that the database refuses. The operation is `<collection>.<mutation>`. */
export interface RefusedCall {
  operation: string
  mutation: WithKind<unknown> | undefined
  values: unknown[]
}

/** What both databases know of a foreign key. */
interface ForeignKey {
  reference(): { columns: { name: string }[] }
}

/**
 * Both databases report both sides of a broken reference with one code. The derived mutations break one side: only a removal,
 * or a change of a table without references, can leave others without the row that they refer to. Others may break either. A
 * create or an update with one reference names its fields: SQLite does not say which reference is broken.
 */
export function brokenReference(call: RefusedCall, table: Table, foreignKeys: ForeignKey[]): RowConflict {
  const conflict = (message: string, fields?: string[]) =>
    new RowConflict(message, getTableName(table), fields, 'reference')
  const write = call.operation.split('.')[1] ?? ''
  if (!['create', 'update', 'remove'].includes(write)) return conflict(conflicts.eitherSide)
  if (write === 'remove' || foreignKeys.length === 0) return conflict(conflicts.referenced)
  const { mutation, values } = call
  // Safe: it is the only value of a change.
  const input = mutation?.kind === 'adds' ? inputOf(mutation.fields, values) : (values[0] as RowChange).input
  const given = Object.entries(getTableColumns(table)).filter(([field]) => (Reflect.get(input, field) ?? null) !== null)
  const fieldsOfKey = ({ reference }: ForeignKey) =>
    given.filter(([, { name }]) => reference().columns.some((column) => column.name === name)).map(([field]) => field)
  const [fields, ...others] = foreignKeys.map(fieldsOfKey).filter(({ length }) => length > 0)
  if (!fields || others.length > 0) return conflict(conflicts.reference)
  const refers = fields.length === 1 ? 'refers' : 'refer'
  return conflict(`The ${fields.join(' and ')} ${refers} to something that is missing.`, fields)
}
