import type Database from 'better-sqlite3'
import { Column, getTableColumns, getTableName, type SQL, sql } from 'drizzle-orm'
import { SQLiteSyncDialect, type SQLiteTable } from 'drizzle-orm/sqlite-core'
import { type Count, countStatement, toCounts } from '../collection/counts.ts'
import { IdsExhausted } from '../collection/errors.ts'
import { firstCursor, type PageOrder, type PageQuery } from '../collection/query.ts'
import {
  columnOf,
  type Entity,
  fieldsOf,
  type Generated,
  listOf,
  maxId,
  type NewEntity,
  type TableWithId,
  uniqueColumnOf,
} from '../collection/row.ts'
import { textLiteral } from '../collection/schema.ts'
import type { Prepare } from './collection.ts'

/** The statements of a collection, derived from its table. They bypass Drizzle's mapping of rows, which takes long. */

/** Reads pages in one order. The statement for each combination of filters is prepared when it is first used. */
export function pagesOf<T extends TableWithId, Filter extends keyof T['$inferSelect'] & string>(
  table: T,
  filters: readonly Filter[],
  order: PageOrder = 'oldest',
): Prepare<[query: PageQuery<T, Filter>], Entity<T>[]> {
  return (connection) => {
    const prepared = new Map<string, (...values: unknown[]) => Entity<T>[]>()
    return (query) => {
      const used = filters.filter((name) => query[name] !== undefined)
      const key = used.join()
      const select = prepared.get(key) ?? prepareSelect(connection, table, pageStatement(table, used, order))
      prepared.set(key, select)
      const cursor = query.cursor ?? firstCursor[order]
      return select(...used.map((name) => encode(columnOf(table, name), query[name])), cursor, query.limit)
    }
  }
}

/**
 * If a parameter alone is the LIMIT, SQLite compiles the statement again each time it is bound, because its planner uses the
 * value (`sqlite3VdbeSetVarmask`). That takes as long as ten rows. Exported for a test of the query plans.
 */
export function pageStatement(table: TableWithId, filters: readonly string[], order: PageOrder = 'oldest'): SQL {
  const conditions = filters.map((name) => sql`${columnOf(table, name)} = ? AND `)
  const [isAfter, direction] = order === 'oldest' ? [sql`>`, sql`ASC`] : [sql`<=`, sql`DESC`]
  return sql`${selectFrom(table)} WHERE ${sql.join(conditions)}${table.id} ${isAfter} ?
    ORDER BY ${table.id} ${direction} LIMIT ? + 0`
}

/** Reads the row with a value that no other row has. The column holds text or integers. */
export function rowBy<T extends TableWithId, Field extends keyof T['$inferSelect'] & string>(
  table: T,
  field: Field,
): Prepare<[value: T['$inferSelect'][Field]], Entity<T> | undefined> {
  return (connection) => {
    const select = prepareSelect(connection, table, sql`${selectFrom(table)} WHERE ${uniqueColumnOf(table, field)} = ?`)
    return (value) => select(value)[0]
  }
}

export function countsOf(table: TableWithId, field: string, limit: number): Prepare<[], Record<string, Count>> {
  return (connection) => {
    const counts = connection.prepare<[], bigint[]>(sqlTextOf(countsStatement(table, field, limit))).raw()
    return () => toCounts(columnOf(table, field), limit, counts.get())
  }
}

/** Exported for a test of its query plan. */
export function countsStatement(table: TableWithId, field: string, limit: number): SQL {
  const column = columnOf(table, field)
  const select = (value: SQL) => sql`SELECT ${table.id} FROM ${table} WHERE ${column} = ${value} ORDER BY ${table.id}`
  return countStatement(column, limit, select)
}

export function insertInto(table: TableWithId) {
  const { given, generated, generate } = fieldsOf(table)
  const name = getTableName(table)
  const columns = [...given, ...generated].map((field) => columnOf(table, field))
  // Without an id left, SQLite would report a full disk (SQLITE_FULL) and roll back the whole transaction.
  const text = sqlTextOf(sql`INSERT INTO ${table} (${listOf(columns.map((column) => sql.identifier(column.name)))})
    SELECT ${listOf(columns.map(() => sql`?`))}
    WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = ${sql.raw(textLiteral(name))} AND seq >= ${sql.raw(String(maxId))})`)

  function prepare(connection: Database.Database) {
    const insert = connection.prepare<unknown[]>(text)
    return (...values: unknown[]) => {
      const more = generate()
      const all = [...values, ...Object.values(more)]
      const { changes, lastInsertRowid } = insert.run(all.map((value, index) => encode(columns[index], value)))
      if (changes === 0)
        throw new IdsExhausted(
          `The table ${name} has no id left. Give its row with the greatest id a lower one, and lower its id in sqlite_sequence.`,
          name,
        )
      // Safe, because the connection reads integers as bigint.
      return { id: lastInsertRowid as bigint, ...more }
    }
  }
  return Object.assign(prepare, { kind: 'adds' as const, fields: given })
}

/** Prepares the insert of a row for statements of a product. It returns what is generated. */
export function inserterOf<T extends TableWithId>(table: T): Prepare<[row: NewEntity<T>], Generated<T>> {
  const prepare = insertInto(table)
  return (connection) => {
    const insert = prepare(connection)
    // Safe: these are the fields that it generates.
    return (row) => insert(...prepare.fields.map((field) => Reflect.get(row, field) ?? null)) as Generated<T>
  }
}

/** Selects whole rows, each column under the name of its field. */
export function selectFrom(table: SQLiteTable): SQL {
  const columns = Object.entries(getTableColumns(table))
  return sql`SELECT ${listOf(columns.map(([field, column]) => sql`${column} AS ${sql.identifier(field)}`))} FROM ${table}`
}

/** Prepares a statement that begins with {@link selectFrom}. The driver makes an object of each row. */
function prepareSelect<T extends SQLiteTable>(
  connection: Database.Database,
  table: T,
  select: SQL,
): (...values: unknown[]) => Entity<T>[] {
  const statement = connection.prepare<unknown[], Record<string, unknown>>(sqlTextOf(select))
  const columns = Object.entries(getTableColumns(table))
  // The values of integers and text are those of the program.
  const isCoded = (column: Column) => column.mapFromDriverValue !== Column.prototype.mapFromDriverValue
  const isConverted = columns.some(([, column]) => !column.notNull || isCoded(column))

  function convert(row: Record<string, unknown>): object {
    const converted: Record<string, unknown> = {}
    for (const [field, column] of columns) {
      const value = row[field]
      if (value !== null) converted[field] = column.mapFromDriverValue(value)
    }
    return converted
  }

  return (...values) => {
    const rows = statement.all(...values)
    // Safe: the statement selects the columns of the table by the names of the fields.
    return (isConverted ? rows.map(convert) : rows) as Entity<T>[]
  }
}

export function encode(column: Column | undefined, value: unknown): unknown {
  return column && value !== null ? column.mapToDriverValue(value) : value
}

/** The SQL of a statement whose parameters are `?`. A dialect caches columns by the name of their table, so each has its own. */
export function sqlTextOf(statement: SQL): string {
  return new SQLiteSyncDialect().sqlToQuery(statement).sql
}

/** Runs a statement with its values. Returns rows as arrays. */
export function query<Row extends unknown[]>(connection: Database.Database, statement: SQL): Row[] {
  const { sql, params } = new SQLiteSyncDialect().sqlToQuery(statement)
  const prepared = connection.prepare<unknown[], Row>(sql)
  if (prepared.reader) return prepared.raw().all(...params)
  prepared.run(...params)
  return []
}
