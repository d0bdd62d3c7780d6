import { type Column, getTableColumns, getTableName, type SQL, sql } from 'drizzle-orm'
import { type PgColumn, PgDialect, type PgTable } from 'drizzle-orm/pg-core'
import { columnOf, type Entity, givenFields, listOf, type NewEntity, type PageQuery } from '../resource.ts'
import { batchReads } from './batch-reads.ts'
import type { Mutation, Read, Statement } from './resource.ts'

/** The statements of a resource, derived from its table. They bypass Drizzle's mapping of rows, which takes long. */

type WithId = PgTable & { id: PgColumn }

/** Reads pages in ascending order of id. There is a statement for each combination of filters. */
export function pagesOf<T extends WithId, Filter extends keyof T['$inferSelect'] & string = never>(
  read: Read,
  table: T,
  filters: readonly Filter[] = [],
): (query: PageQuery<T, Filter>) => Promise<Entity<T>[]> {
  type Query = PageQuery<T, Filter>
  const toEntity = entityMapper(table)
  const batches = new Map<string, (query: Query) => Promise<Entity<T>[] | undefined>>()

  function batchesFor(used: Filter[]) {
    const statement = pageStatement(table, used)
    const keyOf = (query: Query) =>
      JSON.stringify([query.cursor, query.limit, ...used.map((name) => query[name])].map(String))
    return batchReads(keyOf, async (queries: Query[]) => {
      const values = (['cursor', 'limit', ...used] as const).map((name) => queries.map((query) => query[name]))
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
export function pageStatement(table: WithId, filters: readonly string[]): Statement {
  const wanted = filters.map((name, index) => ({
    column: columnOf(table, name),
    value: sql.raw(`query.wanted${index}`),
  }))
  const parameters = ['bigint', 'int', ...wanted.map(({ column }) => column.getSQLType())]
  const [first, ...others] = wanted
  const after = sql`query.after`
  const range = first ? sql`${rangeOf(first.column, table.id, first.value, after)}` : sql`${table.id} > ${after}`
  const conditions = [range, ...others.map(({ column, value }) => sql`${column} = ${value}`)]
  const order = first ? sql`${first.column}, ${table.id}` : sql`${table.id}`
  const text = sql`SELECT page.*, query.place
    FROM unnest(${listOf(parameters.map((type, index) => sql`${sql.placeholder(String(index))}::${sql.raw(type)}[]`))})
      WITH ORDINALITY AS query (${sql.raw(['after', 'size', ...wanted.map((_, index) => `wanted${index}`), 'place'].join(', '))})
    CROSS JOIN LATERAL (
      SELECT ${listOf(Object.values(getTableColumns(table)))} FROM ${table}
      WHERE ${sql.join(conditions, sql` AND `)} ORDER BY ${order} LIMIT query.size
    ) AS page
    ORDER BY query.place, page.id`
  return { name: ['list', getTableName(table), ...filters].join('_'), text: textOf(text) }
}

/**
 * The rows with a value after an id, as a range of the index by that column and the id: for `column = …` PostgreSQL may walk
 * past all rows with other values. Order them by the column and the id.
 */
export function rangeOf(column: Column, id: Column, value: SQL, after: SQL): SQL {
  return sql`(${column}, ${id}) > (${value}, ${after}) AND ${column} <= ${value}`
}

/** Reads rows by their ids. */
export function rowsOf<T extends WithId>(read: Read, table: T): (id: bigint) => Promise<Entity<T> | undefined> {
  const columns = listOf(Object.values(getTableColumns(table)))
  const text = sql`SELECT ${columns} FROM ${table} WHERE ${table.id} = ANY (${sql.placeholder('ids')}::bigint[])`
  const statement = { name: `get_${getTableName(table)}`, text: textOf(text) }
  const toEntity = entityMapper(table)
  return batchReads(
    (id: bigint) => id,
    async (ids) => {
      const rows = (await read(statement, [ids])).map(toEntity)
      return new Map(rows.map((row) => [(row as { id: bigint }).id, row]))
    },
  )
}

/** The mutation that inserts rows and generates their ids, which ascend in the order of the rows. */
export function insertInto<T extends WithId>(table: T): Mutation<NewEntity<T>, { id: bigint }> {
  const fields = givenFields(table)
  const columns = fields.map((field) => columnOf(table, field))
  const names = listOf(columns.map(({ name }) => sql.identifier(name)))
  // Drizzle cannot write it: its INSERT of a SELECT also names the column that the database generates.
  const insert = (arrays: SQL[]) => sql`INSERT INTO ${table} (${names}) SELECT ${names}
    FROM unnest(${listOf(arrays.map((array, index) => sql`${array}::${sql.raw(columns[index]?.getSQLType() ?? '')}[]`))})
      WITH ORDINALITY AS given (${names}, "place of the row")
    ORDER BY "place of the row" RETURNING ${sql.identifier(table.id.name)}`
  const statement = {
    name: `insert_${getTableName(table)}`,
    text: textOf(insert(fields.map((field) => sql`${sql.placeholder(field)}`))),
  }
  return {
    // Safe: these are the names of the columns without the id, as the type says.
    fields: fields as (keyof NewEntity<T> & string)[],
    hasOrderedIds: true,
    isOneStatement: true,
    probe: `EXPLAIN ${textOf(insert(fields.map(() => sql`NULL`)))}`,
    async run(database, rows) {
      const values = fields.map((_, index) => rows.map((row) => row[index]))
      const inserted = await database.query<{ id: string }>({ ...statement, values })
      return rows.map((_, index) => ({ id: idOf(inserted.rows[index]) }))
    },
  }
}

function idOf(row: { id: string } | undefined): bigint {
  if (!row) throw new Error('PostgreSQL did not return an id for each row.')
  return BigInt(row.id)
}

/** The SQL of a statement with placeholders. */
export function textOf(statement: SQL): string {
  return new PgDialect().sqlToQuery(statement).sql
}

/** Converts rows with the columns of the table in their order. A column that is NULL is absent. */
function entityMapper<T extends PgTable>(table: T): (row: unknown[]) => Entity<T> {
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
