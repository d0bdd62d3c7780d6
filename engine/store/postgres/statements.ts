import { hash } from 'node:crypto'
import { type Column, getTableColumns, is, Placeholder, type SQL, sql, type Table } from 'drizzle-orm'
import { PgDialect, type PgTable } from 'drizzle-orm/pg-core'
import type { ClientBase, Pool } from 'pg'
import { type Count, countStatement, toCounts } from '../collection/counts.ts'
import type { Adds, DerivedMethods } from '../collection/derived.ts'
import { firstCursor, type PageOrder, type PageQuery } from '../collection/query.ts'
import {
  columnOf,
  type Entity,
  fieldsOf,
  type Generated,
  listOf,
  type NewEntity,
  type TableWithId,
  textOfValue,
  uniqueColumnOf,
} from '../collection/row.ts'
import { batchReads } from './batch-reads.ts'
import type { BatchMutation, PostgresTable, Queries, Read, Statement } from './collection.ts'
import { postgresTableOf } from './table.ts'

/**
 * The statements of a collection, derived from its table, for the methods of {@link DerivedMethods}. They bypass Drizzle's mapping of
 * rows, which takes long. Each statement serves all calls that arrived together: their inputs are arrays, `unnest` makes a row
 * of each call, `LATERAL` runs the query for that row, and `place` says to which call a result belongs.
 */

/** Reads pages in one order. There is a statement for each combination of filters. */
export function pagesOf<T extends PostgresTable, Filter extends keyof T['$inferSelect'] & string>(
  read: Read,
  table: T,
  filters: readonly Filter[],
  order: PageOrder = 'oldest',
): (query: PageQuery<T, Filter>) => Promise<Entity<T>[]> {
  type Query = PageQuery<T, Filter>
  const toEntity = entityMapper(table)
  const batches = new Map<string, (query: Query) => Promise<Entity<T>[] | undefined>>()

  function batchesFor(used: Filter[]) {
    const statement = pageStatement(table, used, order)
    const valuesOf = (query: Query) => [
      query.cursor ?? firstCursor[order],
      query.limit,
      ...used.map((name) => query[name]),
    ]
    const keyOf = (query: Query) => JSON.stringify(valuesOf(query).map(textOfValue))
    return batchReads(keyOf, async (queries: Query[]) => {
      const rows = queries.map(valuesOf)
      const values = ['cursor', 'limit', ...used].map((_, index) => rows.map((row) => row[index]))
      const pages = queries.map((query): [string, Entity<T>[]] => [keyOf(query), []])
      for (const row of await read(statement, values)) pages[Number(row.pop()) - 1]?.[1].push(toEntity(row))
      return new Map(pages)
    })
  }

  return async (query) => {
    const used = filters.filter((name) => query[name] !== undefined)
    const key = used.join()
    const batch = batches.get(key) ?? batchesFor(used)
    batches.set(key, batch)
    return (await batch(query)) ?? []
  }
}

/** Selects many pages. `place` numbers them from 1. Exported for a test of the query plans. */
export function pageStatement(
  table: PostgresTable,
  filters: readonly string[],
  order: PageOrder = 'oldest',
): Statement {
  const wanted = filters.map((name, index) => ({
    column: columnOf(table, name),
    value: sql.raw(`query.wanted${index}`),
  }))
  const types = ['bigint', 'int', ...wanted.map(({ column }) => column.getSQLType())]
  const names = ['after', 'size', ...wanted.map((_, index) => `wanted${index}`)]
  const [first, ...others] = wanted
  const after = sql`query.after`
  const [isAfter, direction] = order === 'oldest' ? [sql`>`, sql``] : [sql`<=`, sql` DESC`]
  const range = first
    ? rangeOf(first.column, table.id, first.value, after, order)
    : sql`${table.id} ${isAfter} ${after}`
  const conditions = [range, ...others.map(({ column, value }) => sql`${column} = ${value}`)]
  const sorted = (id: Column | SQL) => sql`${id}${direction}`
  const keys = first ? sql`${sorted(first.column)}, ${sorted(table.id)}` : sorted(table.id)
  const text = sql`SELECT page.*, query.place
    FROM unnest(${listOf(names.map((name, index) => parameter(name, `${types[index]}[]`)))})
      WITH ORDINALITY AS query (${sql.raw([...names, 'place'].join(', '))})
    CROSS JOIN LATERAL (
      SELECT ${columnsOf(table)} FROM ${table}
      WHERE ${sql.join(conditions, sql` AND `)} ORDER BY ${keys} LIMIT query.size
    ) AS page
    ORDER BY query.place, ${sorted(sql`page.id`)}`
  return prepared(text, names)
}

/**
 * The rows with a value after an id, or before and with it, as a range of the index by that column and the id: for
 * `column = …` PostgreSQL may walk past all rows with other values. Order them by the column and the id.
 */
function rangeOf(column: Column, id: Column, value: SQL, after: SQL, order: PageOrder = 'oldest'): SQL {
  return order === 'oldest'
    ? sql`(${column}, ${id}) > (${value}, ${after}) AND ${column} <= ${value}`
    : sql`(${column}, ${id}) <= (${value}, ${after}) AND ${column} >= ${value}`
}

/** Reads rows by a value that no other row has. The column holds text or integers. */
export function rowBy<T extends PostgresTable, Field extends keyof Entity<T> & string>(
  read: Read,
  table: T,
  field: Field,
): (value: Entity<T>[Field]) => Promise<Entity<T> | undefined> {
  const column = uniqueColumnOf(table, field)
  const values = parameter('values', `${column.getSQLType()}[]`)
  const statement = prepared(sql`SELECT ${columnsOf(table)} FROM ${table} WHERE ${column} = ANY (${values})`, [
    'values',
  ])
  const toEntity = entityMapper(table)
  return batchReads(
    (value: Entity<T>[Field]) => value,
    async (wanted) => {
      const rows = (await read(statement, [wanted])).map(toEntity)
      return new Map(rows.map((row) => [row[field], row]))
    },
  )
}

export function countsOf(
  read: Read,
  table: PostgresTable,
  field: string,
  limit: number,
): () => Promise<Record<string, Count>> {
  const column = columnOf(table, field)
  const select = (value: SQL) => sql`SELECT ${table.id} FROM ${table}
    WHERE ${rangeOf(column, table.id, value, sql`0`)} ORDER BY ${column}, ${table.id}`
  const statement = prepared(countStatement(column, limit, select))
  return async () => {
    const [row] = await read<bigint[]>(statement, [])
    return toCounts(column, limit, row)
  }
}

/** The mutation that inserts rows. Their ids ascend in the order of the rows. */
export function insertInto(table: PostgresTable): BatchMutation & Adds {
  const { given, generated, generate } = fieldsOf(table)
  const fields = [...given, ...generated]
  const names = listOf(fields.map((field) => sql.identifier(columnOf(table, field).name)))
  // Drizzle cannot write it: its INSERT of a SELECT also names the column that the database generates.
  const insert = sql`INSERT INTO ${table} (${names}) SELECT ${names}
    FROM unnest(${listOf(fields.map((field) => parameter(field, `${columnOf(table, field).getSQLType()}[]`)))})
      WITH ORDINALITY AS given (${names}, "place of the row")
    ORDER BY "place of the row" RETURNING ${sql.identifier(table.id.name)}`
  const statement = prepared(insert, fields)
  return {
    kind: 'adds',
    fields: given,
    hasOrderedIds: true,
    isOneStatement: true,
    probe: `EXPLAIN ${sqlTextOf(sql`INSERT INTO ${table} DEFAULT VALUES`)}`,
    async run(database, rows) {
      const more = generated.length > 0 ? rows.map(generate) : []
      const values = [
        ...given.map((_, index) => rows.map((row) => row[index])),
        ...generated.map((field) => more.map((row) => row[field])),
      ]
      const inserted = await database.query<{ id: bigint }>({ ...statement, values })
      if (inserted.rows.length !== rows.length) throw new Error('PostgreSQL did not return an id for each row.')
      return inserted.rows.map(({ id }, index) => ({ id, ...more[index] }))
    },
  }
}

/** Makes the insert of rows for statements of a product. It resolves to what is generated for each. */
export function inserterOf<T extends TableWithId>(origin: T) {
  // Safe: it has the fields of the origin, and so an id.
  const { fields, run } = insertInto(postgresTableOf(origin) as unknown as PostgresTable)
  return async <const Rows extends readonly NewEntity<T>[]>(client: Queries, rows: Rows) => {
    const values = rows.map((row) => fields.map((field) => Reflect.get(row, field) ?? null))
    // Safe: it resolves to these fields for each row, or throws.
    return (await run(client, values)) as { [Place in keyof Rows]: Generated<T> }
  }
}

/** All columns, in the order of the fields. */
export function columnsOf(table: Table): SQL {
  return listOf(Object.values(getTableColumns(table)))
}

/** The value of a field of {@link prepared}, or an array of values, with its type. */
export function parameter(field: string, type: string): SQL {
  return sql`${sql.placeholder(field)}::${sql.raw(type)}`
}

/**
 * The SQL of a statement, whose placeholders have the names of these fields and their numbers: Drizzle would number them as
 * they occur. It throws for another placeholder, and for a value.
 */
export function sqlTextOf(statement: SQL, fields: readonly string[] = []): string {
  const numbering = new PgDialect()
  numbering.escapeParam = (_index: number, param?: unknown) => {
    const number = is(param, Placeholder) ? fields.indexOf(param.name) + 1 : 0
    if (number === 0) throw new Error('A statement has a placeholder without a field of this name, or a value.')
    return `$${number}`
  }
  return numbering.sqlToQuery(statement).sql
}

/** PostgreSQL tells names apart by their first 63 bytes, and names of tables and columns may have as many. */
export function prepared(statement: SQL, fields?: readonly string[]): Statement {
  const text = sqlTextOf(statement, fields)
  return { name: statementNameOf(text), text }
}

function statementNameOf(text: string): string {
  return hash('sha256', text, 'base64')
}

/** Runs a statement with its values, and may keep it prepared. Returns rows as arrays. */
export async function query<Row extends unknown[]>(client: Queries, statement: SQL, keep = false): Promise<Row[]> {
  const { sql: text, params: values } = new PgDialect().sqlToQuery(statement)
  const name = keep ? statementNameOf(text) : undefined
  return (await client.query<Row>({ text, values, rowMode: 'array', name })).rows
}

/** The sequence of the ids, quoted. PostgreSQL parses the name of the table, but not that of the column. */
export function sequenceOf(table: Table): SQL {
  return sql`pg_get_serial_sequence(${sqlTextOf(sql`${table}`)}, ${columnOf(table, 'id').name})`
}

export async function databaseSize(database: Pool | ClientBase): Promise<number> {
  const { rows } = await database.query<{ bytes: bigint | string }>(
    'SELECT pg_database_size(current_database()) AS bytes',
  )
  return Number(rows[0]?.bytes)
}

/** Converts rows with the columns of the table in their order. A column that is NULL is absent. */
export function entityMapper<T extends PgTable>(table: T): (row: unknown[]) => Entity<T> {
  const fields = Object.keys(getTableColumns(table))
  return (row) => {
    const entity: Record<string, unknown> = {}
    for (const [index, field] of fields.entries()) {
      if (row[index] !== null) entity[field] = row[index]
    }
    // Safe: the statement selects the columns of the table in their order.
    return entity as Entity<T>
  }
}
