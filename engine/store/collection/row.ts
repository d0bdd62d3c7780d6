import { type Column, getTableColumns, getTableName, type SQL, sql, type Table } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'

export type TableWithId = SQLiteTable & { id: SQLiteColumn }

export type Value = bigint | string | boolean | Date | null

/** Values, and lists and plain objects of them. Others, such as a function, a Map or a number, do not compile. */
export type Structured<Part> = Part extends Value | undefined
  ? Part
  : Part extends ((...args: never) => unknown) | number | symbol
    ? 'Use text, bigint, a boolean or Date, or lists and objects of them'
    : { [Name in keyof Part]: Structured<Part[Name]> }

/** A row as the store returns it. A column that is NULL is absent. */
export type Entity<T extends Table> = AbsentIfNull<T['$inferSelect']>

/** The fields of a new row that an insert gets. */
export type NewEntity<T extends Table> = Omit<Entity<T>, GeneratedName<T>>

/** The fields of a new row that an insert generates: the id, and those with a default that a function computes. */
export type Generated<T extends Table> = Pick<Entity<T>, Extract<keyof Entity<T>, GeneratedName<T>>>

type GeneratedName<T extends Table> =
  | 'id'
  | {
      [Name in keyof T['_']['columns']]: T['_']['columns'][Name]['_']['hasRuntimeDefault'] extends true ? Name : never
    }[keyof T['_']['columns']]

type Nullable<Row> = { [Name in keyof Row]-?: null extends Row[Name] ? Name : never }[keyof Row]

type AbsentIfNull<Row> = {
  [Name in keyof Row as Name extends Nullable<Row> ? never : Name]: Row[Name]
} & { [Name in Nullable<Row>]?: NonNullable<Row[Name]> | undefined }

export const maxId = 2n ** 63n - 1n

export function idOf(row: object): bigint {
  // Safe: the tables of all collections have an id of this type.
  return (row as { id: bigint }).id
}

/**
 * The fields of a row besides the id, each in the order of the columns. See {@link NewEntity} and {@link Generated}. Some of
 * those that an insert generates, each change generates again.
 */
export function fieldsOf(table: Table) {
  const columns = Object.entries(getTableColumns(table)).filter(([field]) => field !== 'id')
  const namesOf = (some: typeof columns) => some.map(([field]) => field)
  const valuesOf = (some: typeof columns, fn: 'defaultFn' | 'onUpdateFn'): Record<string, unknown> =>
    Object.fromEntries(some.map(([field, column]) => [field, column[fn]?.()]))
  const given = columns.filter(([, { defaultFn }]) => !defaultFn)
  const generated = columns.filter(([, { defaultFn }]) => defaultFn)
  const renewed = columns.filter(([, { onUpdateFn }]) => onUpdateFn)
  return {
    given: namesOf(given),
    generated: namesOf(generated),
    generate: () => valuesOf(generated, 'defaultFn'),
    /** What an update may write. */
    changeable: namesOf([...given, ...renewed]),
    renew: () => valuesOf(renewed, 'onUpdateFn'),
  }
}

/** A value as text. Equal values, and no others of their column, have the same text. An object has none: a TypeError. */
export function textOfValue(value: unknown): string | null {
  if (value === null || value === undefined) return null
  if (value instanceof Date) return value.toISOString()
  if (typeof value === 'object') throw new TypeError('A mutation, a filter or a search got an object as a value.')
  return String(value)
}

/** The text of a {@link Structured} value. Equal ones, and no others, have the same: a time has no quotes. */
export function textOfStructure(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(textOfStructure)}]`
  if (isPlain(value)) {
    const members = Object.entries(value).filter(([, part]) => part !== undefined)
    const sorted = members.sort(([a], [b]) => (a < b ? -1 : 1))
    return `{${sorted.map(([name, part]) => `${JSON.stringify(name)}:${textOfStructure(part)}`)}}`
  }
  if (typeof value === 'string') return JSON.stringify(value)
  return value === undefined ? 'undefined' : String(textOfValue(value))
}

/** The parts of a list or a plain object. Undefined for any other value. */
export function partsOf(value: unknown): unknown[] | undefined {
  if (Array.isArray(value)) return value
  return isPlain(value) ? Object.values(value) : undefined
}

function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && [Object.prototype, null].includes(Object.getPrototypeOf(value))
}

export function columnOf(table: Table, field: string): Column {
  const column = getTableColumns(table)[field]
  if (!column) throw new Error(`The table ${getTableName(table)} has no field ${field}.`)
  return column
}

/** @throws {Error} if several rows could have the same value */
export function uniqueColumnOf(table: Table, field: string): Column {
  const column = columnOf(table, field)
  if (column.primary || column.isUnique) return column
  throw new Error(`The table ${getTableName(table)} cannot get a row by its field ${field}, which is not unique.`)
}

/** The parts of a statement, separated by commas. */
export function listOf(parts: unknown[]): SQL {
  return sql.join(
    parts.map((part) => sql`${part}`),
    sql`, `,
  )
}
