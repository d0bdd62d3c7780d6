import type Database from 'better-sqlite3'
import {
  asc,
  Column,
  desc,
  eq,
  getTableColumns,
  getTableName,
  gt,
  is,
  lte,
  Param,
  Placeholder,
  type SQL,
  sql,
  type Table,
} from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { SQLiteSyncDialect, type SQLiteTable } from 'drizzle-orm/sqlite-core'
import {
  columnOf,
  type Entity,
  fieldsOfNew,
  type Generated,
  listOf,
  type NewEntity,
  type Order,
  type PageQuery,
} from '../resource.ts'
import { IdsExhausted } from '../store.ts'
import { boundLimit } from './columns.ts'
import type { Mutation, Prepare, TableWithId } from './resource.ts'

/** The statements of a resource, derived from its table. Drizzle generates the SQL. */

const maxId = 2n ** 63n - 1n

/** Reads pages in one order. The statement for each combination of filters is prepared when it is first used. */
export function preparePages<T extends TableWithId, Filter extends keyof T['$inferSelect'] & string>(
  table: T,
  filters: readonly Filter[],
  order: Order = 'oldest',
): Prepare<[query: PageQuery<T, Filter>], Entity<T>[]> {
  return (connection) => {
    const prepared = new Map<string, Select<Entity<T>>>()
    return (query) => {
      const used = filters.filter((name) => query[name] !== undefined)
      const key = used.join()
      const select = prepared.get(key) ?? prepareSelect(connection, table, pageStatement(table, used, order))
      prepared.set(key, select)
      return select.all(query)
    }
  }
}

/** Exported for a test of the query plans. */
export function pageStatement(table: TableWithId, filters: readonly string[], order: Order = 'oldest'): Query {
  const conditions = filters.map((name) => {
    const column = columnOf(table, name)
    return eq(column, sql.param(sql.placeholder(name), column))
  })
  const cursor = sql.placeholder('cursor')
  const [range, direction] = order === 'oldest' ? [gt(table.id, cursor), asc] : [lte(table.id, cursor), desc]
  return selectFrom(table)
    .where(sql.join([...conditions, range], sql` and `))
    .orderBy(direction(table.id))
    .limit(boundLimit('limit'))
}

/** Reads the row with a value that no other row has. The column holds text or integers. */
export function prepareGet<T extends TableWithId, Field extends keyof T['$inferSelect'] & string>(
  table: T,
  field: Field,
): Prepare<[value: T['$inferSelect'][Field]], Entity<T> | undefined> {
  const byField = selectFrom(table).where(eq(columnOf(table, field), sql.placeholder('value')))
  return (connection) => {
    const select = prepareSelect<Entity<T>>(connection, table, byField)
    return (value) => select.get({ value })
  }
}

/** The mutation that inserts a row. */
export function insertInto<T extends TableWithId>(table: T): Mutation<NewEntity<T>, Generated<T>> {
  const { given, generated, generate } = fieldsOfNew(table)
  const fields = [...given, ...generated]
  const name = getTableName(table)
  const columns = fields.map((field) => columnOf(table, field))
  const codes = columns.some(isCoded)
  // Without an id left, SQLite would report a full disk (SQLITE_FULL) and roll back the whole transaction.
  const statement = sql`INSERT INTO ${table} (${listOf(columns.map((column) => sql.identifier(column.name)))})
    SELECT ${listOf(fields.map((field) => sql.placeholder(field)))}
    WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = ${sql.raw(`'${name}'`)} AND seq >= ${sql.raw(String(maxId))})`
  const text = textOf(statement)

  function prepare(connection: Database.Database) {
    const insert = connection.prepare<unknown[]>(text)
    function insertRow(values: unknown[]): bigint {
      const parameters = codes ? values.map((value, index) => encode(columns[index], value)) : values
      const { changes, lastInsertRowid } = insert.run(...parameters)
      if (changes === 0)
        throw new IdsExhausted(
          `The table ${name} has no id left. Give its row with the greatest id a lower one, and lower its id in sqlite_sequence.`,
          name,
        )
      // Safe, because the connection reads integers as bigint.
      return lastInsertRowid as bigint
    }
    if (generated.length === 0) return (...values: unknown[]) => ({ id: insertRow(values) })
    return (...values: unknown[]) => {
      const more = generate()
      return { id: insertRow([...values, ...Object.values(more)]), ...more }
    }
  }
  const sample = given.map((field) => sampleOf(columnOf(table, field)))
  // Safe: the given and the generated fields are those of the types.
  return Object.assign(prepare, { fields: given, sample }) as unknown as Mutation<NewEntity<T>, Generated<T>>
}

const samples: Record<string, unknown> = { SQLiteBoolean: false, SQLiteInteger: 0n, SQLiteText: 'probe' }

/** A value that a column may accept: `probe` as text, zero, false, the first of several allowed values, and NULL where it can be. */
function sampleOf({ notNull, enumValues, columnType }: Column): unknown {
  if (!notNull) return null
  if (enumValues) return enumValues[0]
  return samples[columnType] ?? new Date(0)
}

export interface Select<Row> {
  /** @param parameters the values of the placeholders by their names. */
  all(parameters: object): Row[]
  get(parameters: object): Row | undefined
}

export type Query = { toSQL(): { sql: string; params: unknown[] } }

/** Selects whole rows, each column under the name of its field. */
export function selectFrom(table: SQLiteTable) {
  const columns = Object.entries(getTableColumns(table))
  return drizzle
    .mock()
    .select(Object.fromEntries(columns.map(([field, column]) => [field, sql`${column}`.as(field)])))
    .from(table)
}

/**
 * Prepares a query of {@link selectFrom}. The driver makes an object of each row: Drizzle's own mapping of rows takes as long
 * as SQLite takes to find them.
 */
export function prepareSelect<Row>(connection: Database.Database, table: Table, query: Query): Select<Row> {
  const { sql: text, params } = query.toSQL()
  const bindings = params.map(bindingOf)
  const statement = connection.prepare<unknown[], Record<string, unknown>>(text)
  const convert = converterOf(table)
  const valuesOf = (parameters: object) => {
    const byName = parameters as Record<string, unknown>
    return bindings.map(({ name, column }) => encode(column, byName[name]))
  }
  // Safe: the statement selects the columns of the table by the names of the fields.
  return {
    all(parameters) {
      const rows = statement.all(...valuesOf(parameters))
      return (convert ? rows.map(convert) : rows) as Row[]
    },
    get(parameters) {
      const row = statement.get(...valuesOf(parameters))
      return (row && convert ? convert(row) : row) as Row | undefined
    },
  }
}

/** The SQL of a statement with placeholders. */
export function textOf(statement: SQL): string {
  return new SQLiteSyncDialect().sqlToQuery(statement).sql
}

/** The name of a placeholder, and the column that encodes its value if there is one. */
function bindingOf(parameter: unknown): { name: string; column: Column | undefined } {
  const { value, encoder } = is(parameter, Param) ? parameter : { value: parameter, encoder: undefined }
  if (!is(value, Placeholder)) throw new Error('A statement has a value where it needs a placeholder.')
  return { name: value.name, column: is(encoder, Column) && isCoded(encoder) ? encoder : undefined }
}

/** Whether a value differs between the database and the program. Integers and text do not. */
function isCoded(column: Column): boolean {
  return column.mapFromDriverValue !== Column.prototype.mapFromDriverValue
}

function encode(column: Column | undefined, value: unknown): unknown {
  return column && value !== null ? column.mapToDriverValue(value) : value
}

/** Returns undefined if rows need no conversion. */
function converterOf(table: Table): ((row: Record<string, unknown>) => object) | undefined {
  const columns = Object.entries(getTableColumns(table))
  if (columns.every(([, column]) => column.notNull && !isCoded(column))) return undefined
  return (row) => {
    const converted: Record<string, unknown> = {}
    for (const [field, column] of columns) {
      const value = row[field]
      if (value !== null) converted[field] = column.mapFromDriverValue(value)
    }
    return converted
  }
}
