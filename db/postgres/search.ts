import { type Column, getTableColumns, getTableName, type SQL, sql } from 'drizzle-orm'
import { columnOf, type Entity, listOf } from '../resource.ts'
import type { Search } from '../search.ts'
import type { Read, Statement, TableWithId } from './resource.ts'
import { entityMapper, textOf } from './statements.ts'

/** The statements of searches. */

export function searchOf<T extends TableWithId>(read: Read, table: T): (search: Search) => Promise<Entity<T>[]> {
  const toEntity = entityMapper(table)
  return async (search) => {
    const { limit, first, cursor, filters, wanted, by } = search
    const ofBy =
      by?.kind === 'value' ? [by.value, first] : by ? [by.range.beyond, tieOf(cursor), by.range.until] : [first]
    const values = [...filters.map((_, index) => wanted.map((combination) => combination[index])), limit, ...ofBy]
    return (await read(searchStatement(table, search), values)).map(toEntity)
  }
}

/** Ids are negative in an index of texts, because they descend while the texts ascend. */
function tieOf(cursor: bigint | undefined): bigint {
  return cursor === undefined ? -(2n ** 63n) : -cursor
}

/**
 * The expression by which an index finds texts by their beginning. With this collation, PostgreSQL converts ASCII letters
 * only and compares texts by their code points, like SQLite.
 */
export function folded(column: Column): SQL {
  return sql`lower(${column} COLLATE "C")`
}

/** The id in an index of texts: the newest of equal texts comes first. */
export function descending(id: Column): SQL {
  return sql`(- ${id})`
}

/**
 * Selects a page from each range of the index, and from these the page. As in `rangeOf`, the comparison of rows leaves
 * PostgreSQL no other index. Exported for a test of the query plans.
 */
export function searchStatement(table: TableWithId, { filters, by, isNewestFirst }: Omit<Search, 'wanted'>): Statement {
  let parameters = 0
  // Not a placeholder, because Drizzle would number each use of it.
  const parameter = (type: string) => sql.raw(`$${++parameters}::${type}`)
  const columns = filters.map((name) => columnOf(table, name))
  const arrays = columns.map((column) => parameter(`${column.getSQLType()}[]`))
  const keys: (Column | SQL)[] = [...columns]
  const values = columns.map((_, index) => sql.raw(`wanted.value${index}`))
  const limit = sql`LIMIT ${parameter('int')}`
  const column = by && columnOf(table, by.field)
  const isOfTexts = by?.kind === 'beginning'
  if (column) keys.push(isOfTexts ? folded(column) : column)
  if (column) values.push(parameter(column.getSQLType()))
  const last = isOfTexts ? descending(table.id) : table.id
  const isAscending = isOfTexts === isNewestFirst
  const direction = sql.raw(isAscending ? 'ASC' : 'DESC')
  const conditions = [
    sql`${rowOf([...keys, last])} ${sql.raw(`${isAscending ? '>' : '<'}${isOfTexts ? '' : '='}`)} ${rowOf([...values, parameter('bigint')])}`,
  ]
  const end = isOfTexts ? [...values.slice(0, -1), parameter('text')] : values
  const comparison = sql.raw(isAscending ? (isOfTexts ? '<' : '<=') : '>=')
  if (keys.length > 0) conditions.push(sql`${rowOf(keys)} ${comparison} ${rowOf(end)}`)
  const order = (parts: unknown[]) => sql`ORDER BY ${listOf(parts.map((part) => sql`${part} ${direction}`))}`
  const page = sql`(SELECT * FROM ${table} WHERE ${sql.join(conditions, sql` AND `)} ${order([...keys, last])} ${limit}) AS ${table}`
  const wanted = sql`unnest(${listOf(arrays)}) AS wanted (${sql.raw(columns.map((_, index) => `value${index}`).join(', '))})`
  const from = columns.length > 0 ? sql`${wanted} CROSS JOIN LATERAL ${page}` : page
  const text = sql`SELECT ${listOf(Object.values(getTableColumns(table)))} FROM ${from}
    ${order([...(isOfTexts ? keys.slice(-1) : []), last])} ${limit}`
  const name = [
    'search',
    getTableName(table),
    ...filters,
    ...(by ? [by.field] : []),
    isNewestFirst ? 'newest' : 'oldest',
  ]
  return { name: name.join('_'), text: textOf(text) }
}

function rowOf(parts: unknown[]): SQL {
  return sql`(${listOf(parts)})`
}
