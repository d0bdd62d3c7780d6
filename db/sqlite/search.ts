import { type Column, getTableColumns, type SQL, sql } from 'drizzle-orm'
import { SQLiteSyncDialect } from 'drizzle-orm/sqlite-core'
import { columnOf, type Entity, listOf } from '../resource.ts'
import type { Search } from '../search.ts'
import type { Prepare, TableWithId } from './resource.ts'
import { prepareSelect, type Query, type Select } from './statements.ts'

/** The statements of searches. Each is prepared when it is first used. */

const dialect = new SQLiteSyncDialect()

export function prepareSearch<T extends TableWithId>(table: T): Prepare<[search: Search], Entity<T>[]> {
  return (connection) => {
    const prepared = new Map<string, Select<Entity<T>>>()
    return (search) => {
      const { isNewestFirst, first, limit, filters, wanted, by } = search
      const key = [isNewestFirst, by?.field, wanted.length, ...filters].join()
      const select = prepared.get(key) ?? prepareSelect(connection, table, searchStatement(table, search))
      prepared.set(key, select)
      const values = wanted.flatMap((combination, range) =>
        combination.map((value, index) => [`${filters[index]} ${range}`, value]),
      )
      return select.all({ first, limit, ...(by?.kind === 'value' ? by : by?.range), ...Object.fromEntries(values) })
    }
  }
}

/** The expression by which an index finds texts by their beginning. SQLite converts ASCII letters only. */
export function folded(column: Column): SQL {
  return sql`lower(${column})`
}

/** Selects a page from each range of the index, and from these the page. Exported for a test of the query plans. */
export function searchStatement(table: TableWithId, search: Search): Query {
  const { filters, wanted, by, isNewestFirst } = search
  const columns = Object.entries(getTableColumns(table)).map(
    ([field, column]) => sql`${column} AS ${sql.identifier(field)}`,
  )
  const ranges =
    by?.kind === 'beginning'
      ? rangesOfTexts(table, by.field, isNewestFirst)
      : [rangeOfIds(table, by?.field, isNewestFirst)]
  const pages = wanted.flatMap((_, index) => {
    const within = filters.map((name) => equals(table, name, `${name} ${index}`))
    return ranges.map(
      ({ conditions, order }) =>
        sql`SELECT * FROM (SELECT * FROM ${table} WHERE ${sql.join([...within, ...conditions], sql` AND `)} ORDER BY ${order} ${limit})`,
    )
  })
  const order = ranges.at(-1)?.order
  const statement = sql`SELECT ${listOf(columns)} FROM (${sql.join(pages, sql` UNION ALL `)}) AS ${table} ORDER BY ${order} ${limit}`
  return { toSQL: () => dialect.sqlToQuery(statement) }
}

// See boundLimit.
const limit = sql`LIMIT ${sql.placeholder('limit')} + 0`

interface Range {
  conditions: SQL[]
  order: SQL
}

function rangeOfIds(table: TableWithId, field: string | undefined, isNewestFirst: boolean): Range {
  const [first, order] = isNewestFirst
    ? [sql`${table.id} <= ${sql.placeholder('first')}`, sql`${table.id} DESC`]
    : [sql`${table.id} >= ${sql.placeholder('first')}`, sql`${table.id}`]
  return { conditions: [...(field === undefined ? [] : [equals(table, field, 'value')]), first], order }
}

/** The rest of the rows with one text, and those with the texts after it: their ids descend, while the texts ascend. */
function rangesOfTexts(table: TableWithId, field: string, isNewestFirst: boolean): Range[] {
  const text = folded(columnOf(table, field))
  const ofOneText = rangeOfIds(table, undefined, isNewestFirst)
  const [at, beyond, until] = ['at', 'beyond', 'until'].map((name) => sql.placeholder(name))
  return [
    { ...ofOneText, conditions: [sql`${text} = ${at}`, ...ofOneText.conditions] },
    isNewestFirst
      ? { conditions: [sql`${text} > ${beyond}`, sql`${text} < ${until}`], order: sql`${text}, ${table.id} DESC` }
      : { conditions: [sql`${text} < ${beyond}`, sql`${text} >= ${until}`], order: sql`${text} DESC, ${table.id}` },
  ]
}

function equals(table: TableWithId, field: string, placeholder: string): SQL {
  const column = columnOf(table, field)
  return sql`${column} = ${sql.param(sql.placeholder(placeholder), column)}`
}
