import type Database from 'better-sqlite3'
import {
  asc,
  Column,
  eq,
  getTableColumns,
  getTableName,
  gt,
  is,
  Placeholder,
  type SQL,
  sql,
  type Table,
} from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { type SQLiteColumn, SQLiteSyncDialect, type SQLiteTable } from 'drizzle-orm/sqlite-core'
import { columnOf, type Entity, givenFields, listOf, type NewEntity, type PageQuery } from '../resource.ts'
import { IdsExhausted } from '../store.ts'
import { boundLimit } from './columns.ts'
import type { Mutation, Prepare } from './resource.ts'

/** The statements of a resource, derived from its table. Drizzle generates the SQL. */

type WithId = SQLiteTable & { id: SQLiteColumn }

const maxId = 2n ** 63n - 1n

/** Reads pages in ascending order of id. The statement for each combination of filters is prepared when it is first used. */
export function preparePages<T extends WithId, Filter extends keyof T['$inferSelect'] & string = never>(
  table: T,
  filters: readonly Filter[] = [],
): Prepare<[query: PageQuery<T, Filter>], Entity<T>[]> {
  return (connection) => {
    const prepared = new Map<string, Select<Entity<T>>>()
    return (query) => {
      const used = filters.filter((name) => query[name] !== undefined)
      const key = used.join()
      const select = prepared.get(key) ?? prepareSelect(connection, table, pageStatement(table, used))
      prepared.set(key, select)
      return select.all(query)
    }
  }
}

/** Exported for a test of the query plans. */
export function pageStatement(table: WithId, filters: readonly string[]): Query {
  const conditions = filters.map((name) => eq(columnOf(table, name), sql.placeholder(name)))
  return selectFrom(table)
    .where(sql.join([...conditions, gt(table.id, sql.placeholder('cursor'))], sql` and `))
    .orderBy(asc(table.id))
    .limit(boundLimit('limit'))
}

export function prepareGet<T extends WithId>(table: T): Prepare<[id: bigint], Entity<T> | undefined> {
  const byId = selectFrom(table).where(eq(table.id, sql.placeholder('id')))
  return (connection) => {
    const select = prepareSelect<Entity<T>>(connection, table, byId)
    return (id) => select.get({ id })
  }
}

/** The mutation that inserts a row and generates its id. */
export function insertInto<T extends WithId>(table: T): Mutation<NewEntity<T>, { id: bigint }> {
  const fields = givenFields(table)
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
    return (...values: unknown[]): { id: bigint } => {
      const parameters = codes ? values.map((value, index) => encode(columns[index], value)) : values
      const { changes, lastInsertRowid } = insert.run(...parameters)
      if (changes === 0)
        throw new IdsExhausted(
          `The table ${name} has no id left. Give its row with the greatest id a lower one, and lower its id in sqlite_sequence.`,
          name,
        )
      // Safe, because the connection reads integers as bigint.
      return { id: lastInsertRowid as bigint }
    }
  }
  // Safe: these are the names of the columns without the id, as the type says.
  return Object.assign(prepare, { fields: fields as (keyof NewEntity<T> & string)[], sample: sampleOf(table) })
}

const samples: Record<string, unknown> = { SQLiteBoolean: false, SQLiteInteger: 0n, SQLiteText: 'probe' }

/** Any row that a table may accept: `probe` as text, zeros, false, the first of several allowed values, and NULL where it can be. */
function sampleOf(table: Table): unknown[] {
  return givenFields(table).map((field) => {
    const { notNull, enumValues, columnType } = columnOf(table, field)
    if (!notNull) return null
    if (enumValues) return enumValues[0]
    return samples[columnType] ?? new Date(0)
  })
}

interface Select<Row> {
  /** @param parameters the values of the placeholders by their names. */
  all(parameters: object): Row[]
  get(parameters: object): Row | undefined
}

type Query = { toSQL(): { sql: string; params: unknown[] } }

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
 *
 * @param keepNull whether a column that is NULL is null. Otherwise it is absent.
 */
export function prepareSelect<Row>(
  connection: Database.Database,
  table: Table,
  query: Query,
  keepNull = false,
): Select<Row> {
  const { sql: text, params } = query.toSQL()
  const names = params.map(placeholderName)
  const statement = connection.prepare<unknown[], Record<string, unknown>>(text)
  const convert = converterOf(table, keepNull)
  const valuesOf = (parameters: object) => {
    const byName = parameters as Record<string, unknown>
    return names.map((name) => byName[name])
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

function placeholderName(parameter: unknown): string {
  const value = typeof parameter === 'object' && parameter && 'value' in parameter ? parameter.value : parameter
  if (is(value, Placeholder)) return value.name
  throw new Error('A statement has a value where it needs a placeholder.')
}

/** Whether a value differs between the database and the program. Integers and text do not. */
function isCoded(column: Column): boolean {
  return column.mapFromDriverValue !== Column.prototype.mapFromDriverValue
}

function encode(column: Column | undefined, value: unknown): unknown {
  return column && value !== null ? column.mapToDriverValue(value) : value
}

/** Returns undefined if rows need no conversion. */
function converterOf(table: Table, keepNull: boolean): ((row: Record<string, unknown>) => object) | undefined {
  const columns = Object.entries(getTableColumns(table))
  if (columns.every(([, column]) => (column.notNull || keepNull) && !isCoded(column))) return undefined
  return (row) => {
    const converted: Record<string, unknown> = {}
    for (const [field, column] of columns) {
      const value = row[field]
      if (value !== null) converted[field] = column.mapFromDriverValue(value)
      else if (keepNull) converted[field] = null
    }
    return converted
  }
}
