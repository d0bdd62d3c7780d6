import { type Column, getTableColumns, getTableName, type SQL, sql, type Table } from 'drizzle-orm'
import type { Migration } from './migrations.ts'

/** What the engines know of resources: their tables, from which they derive the rest. */

/** A row as the store returns it. A column that is NULL is absent. */
export type Entity<T extends Table> = AbsentIfNull<T['$inferSelect']>

/** A row without the id, which the database generates. */
export type NewEntity<T extends Table> = Omit<Entity<T>, 'id'>

type Nullable<Row> = { [Name in keyof Row]-?: null extends Row[Name] ? Name : never }[keyof Row]

type AbsentIfNull<Row> = {
  [Name in keyof Row as Name extends Nullable<Row> ? never : Name]: Row[Name]
} & { [Name in Nullable<Row>]?: NonNullable<Row[Name]> | undefined }

/** A page in ascending order of id: at most `limit` rows whose id is greater than `cursor`. A filter compares for equality. */
export type PageQuery<T extends Table, Filter extends keyof T['$inferSelect'] = never> = {
  limit: number
  cursor: bigint
} & { [Name in Filter]?: T['$inferSelect'][Name] | undefined }

/** The fields of a new row, in the order of the columns. */
export function givenFields(table: Table): string[] {
  return Object.keys(getTableColumns(table)).filter((field) => field !== 'id')
}

export function columnOf(table: Table, field: string): Column {
  const column = getTableColumns(table)[field]
  if (!column) throw new Error(`The table ${getTableName(table)} has no field ${field}.`)
  return column
}

/** The parts of a statement, separated by commas. */
export function listOf(parts: unknown[]): SQL {
  return sql.join(
    parts.map((part) => sql`${part}`),
    sql`, `,
  )
}

/** The resources and migrations of one kind of database. */
export interface Loaded<R> {
  /** The address of the module that exports the list as `resources`. */
  url: string
  migrations: Migration[]
  resources: Record<string, R>
}
