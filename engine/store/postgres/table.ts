import { type Column, type ColumnBaseConfig, type ColumnDataType, getTableColumns, getTableName, is } from 'drizzle-orm'
import {
  bigint,
  boolean,
  check,
  type ExtraConfigColumn,
  foreignKey,
  index,
  type PgColumn,
  type PgColumnBuilder,
  type PgColumnBuilderBase,
  type PgTable,
  type PgTableWithColumns,
  pgTable,
  text,
  timestamp,
  unique,
  uniqueIndex,
} from 'drizzle-orm/pg-core'
import { getTableConfig, SQLiteColumn, type SQLiteTable } from 'drizzle-orm/sqlite-core'
import { history } from '../collection/history.ts'
import { idempotencyKeys } from '../collection/idempotency.ts'
import { ruleOfPostgres } from '../collection/schema.ts'

export type PostgresTableOf<T extends SQLiteTable> = PgTableWithColumns<{
  name: T['_']['name']
  schema: undefined
  columns: { [Name in keyof T['_']['columns']]: PgColumn<ConfigOf<T['_']['columns'][Name]>> }
  dialect: 'pg'
}>

type ConfigOf<C extends SQLiteColumn> = Pick<C['_'], keyof ColumnBaseConfig<ColumnDataType, string>> & {
  generated: undefined
}

const derived = new WeakMap<SQLiteTable, PgTable>()

/** The table of PostgreSQL with the columns, the indexes, the references and the rules of one of SQLite. */
export function postgresTableOf<T extends SQLiteTable>(origin: T): PostgresTableOf<T> {
  const table = derived.get(origin) ?? tableFrom(origin)
  derived.set(origin, table)
  // Safe: it has the same fields with the same types, which `collection` checks.
  return table as PostgresTableOf<T>
}

function tableFrom(origin: SQLiteTable): PgTable {
  const { columns, indexes, uniqueConstraints, checks, foreignKeys } = getTableConfig(origin)
  const rowid = columns.filter(({ primary }) => primary)
  const builders = Object.entries(getTableColumns(origin)).map(([field, column]) => [field, builderOf(column)])

  return pgTable(getTableName(origin), Object.fromEntries(builders), (table: Record<string, ExtraConfigColumn>) => {
    const columnOf = (column: SQLiteColumn) => columnIn(table, column)
    return [
      ...indexes.map(({ config: { name, columns, unique, where } }) => {
        // An index of SQLite ends with the rowid, which is the id.
        const whole = unique ? columns : new Set([...columns, ...rowid])
        const parts = [...whole].map((part) => (is(part, SQLiteColumn) ? columnOf(part) : part))
        const built = (unique ? uniqueIndex(name) : index(name)).on(...some(parts))
        return where ? built.where(where) : built
      }),
      ...uniqueConstraints.map(({ name, columns }) => unique(name).on(...some(columns.map(columnOf)))),
      ...checks.map(ruleOfPostgres).map(({ name, value }) => check(name, value)),
      ...foreignKeys.map(({ reference }) => {
        const { columns, foreignColumns, foreignTable, name } = reference()
        const target = getTableColumns(postgresTableOf(foreignTable))
        return foreignKey({
          ...(name !== undefined && { name }),
          columns: some(columns.map(columnOf)),
          foreignColumns: some(foreignColumns.map((column) => columnIn(target, column))),
        })
      }),
    ]
  })
}

/** The column of the same field. */
function columnIn<C>(columns: Record<string, C>, origin: SQLiteColumn): C {
  const [field] = Object.entries(getTableColumns(origin.table)).find(([, each]) => each === origin) ?? []
  const column = field === undefined ? undefined : columns[field]
  if (!column) throw new Error(`The table ${getTableName(origin.table)} has no field for its column ${origin.name}.`)
  return column
}

/** Safe: Drizzle's keys and indexes have at least one column. */
function some<T>(parts: T[]): [T, ...T[]] {
  return parts as [T, ...T[]]
}

/** The columns of PostgreSQL by the types of the columns of SQLite that a collection may have. */
const types: Record<string, (name: string, values: string[] | undefined) => PgColumnBuilderBase> = {
  SQLiteInteger: int64,
  SQLiteText: (name, values) => text(name, values && { enum: values as [string] }),
  SQLiteBoolean: (name) => boolean(name),
  SQLiteCustomColumn: time,
}

function int64(name: string) {
  return bigint(name, { mode: 'bigint' })
}

/** A time in milliseconds, the precision of JavaScript's dates. */
function time(name: string) {
  return timestamp(name, { withTimezone: true, precision: 3 })
}

function builderOf(column: Column): PgColumnBuilderBase {
  const { name, columnType, enumValues, primary, notNull, isUnique, uniqueName } = column
  const { default: constant, defaultFn, onUpdateFn } = column
  if (primary) return int64(name).primaryKey().generatedAlwaysAsIdentity()
  // Safe: it is the class of all builders.
  const builder = types[columnType]?.(name, enumValues) as PgColumnBuilder | undefined
  if (!builder || column.generated)
    throw new Error(`The column ${name} of ${getTableName(column.table)} has no counterpart on PostgreSQL.`)
  if (notNull) builder.notNull()
  if (constant !== undefined) builder.default(constant)
  if (defaultFn) builder.$defaultFn(defaultFn)
  if (onUpdateFn) builder.$onUpdateFn(onUpdateFn)
  if (isUnique) builder.unique(uniqueName)
  return builder
}

/** Every table that the service needs, each after those that its foreign keys refer to. */
export function tablesOf(collections: Record<string, { table: PgTable }>): PgTable[] {
  return [...Object.values(collections).map(({ table }) => table), ...[idempotencyKeys, history].map(postgresTableOf)]
}
