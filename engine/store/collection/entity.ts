import { type Column, getTableColumns, getTableName, type SQL, sql, type Table } from 'drizzle-orm'
import type { Migration } from '../database/migrations.ts'
import type { IdempotencyKey, Searcher } from './base-store.ts'

/** What the engines know of collections: their tables, from which they derive the rest. */

/** What a column may hold. */
export type Value = bigint | string | boolean | Date | null

/** A row as the store returns it. A column that is NULL is absent. */
export type Entity<T extends Table> = AbsentIfNull<T['$inferSelect']>

/** The fields of a new row that an insert gets. */
export type NewEntity<T extends Table> = Omit<Entity<T>, GeneratedName<T>>

/** The fields of a new row that an insert generates: the id, and those with a default that a function computes. */
export type Generated<T extends Table> = Pick<Entity<T>, Extract<keyof Entity<T>, GeneratedName<T>>>

/** Some fields of a row. Null stands for an optional field that is absent. A field that is undefined is not meant. */
type Some<Row> = { [Name in keyof Row]?: Row[Name] | (undefined extends Row[Name] ? null : never) | undefined }

/** A row that a mutation changes. */
export interface Expectation<T extends Table> {
  id: bigint
  /** What the caller has seen. If one of these fields has another value now, the mutation rejects with {@link RowChanged}. */
  expected?: Some<Omit<Entity<T>, 'id'>> | undefined
}

export interface Change<T extends Table> extends Expectation<T> {
  /** The new values. Other fields stay as they are. */
  set: Some<NewEntity<T>>
}

type GeneratedName<T extends Table> =
  | 'id'
  | {
      [Name in keyof T['_']['columns']]: T['_']['columns'][Name]['_']['hasRuntimeDefault'] extends true ? Name : never
    }[keyof T['_']['columns']]

type Nullable<Row> = { [Name in keyof Row]-?: null extends Row[Name] ? Name : never }[keyof Row]

type AbsentIfNull<Row> = {
  [Name in keyof Row as Name extends Nullable<Row> ? never : Name]: Row[Name]
} & { [Name in Nullable<Row>]?: NonNullable<Row[Name]> | undefined }

/** The direction of a page: by ascending or by descending ids. */
export type Order = 'oldest' | 'newest'

/**
 * A page of at most `limit` rows. Oldest first, their ids are greater than `cursor`; newest first, they are at most `cursor`.
 * Without a cursor, it is the first page. A filter compares for equality.
 */
export type PageQuery<T extends Table, Filter extends keyof T['$inferSelect'] = never> = {
  limit: number
  cursor?: bigint | undefined
} & { [Name in Filter]?: T['$inferSelect'][Name] | undefined }

export const maxId = 2n ** 63n - 1n

/** The cursor of the first page. */
export const firstCursor: Record<Order, bigint> = { oldest: 0n, newest: maxId }

/** A query with other fields of the table does not compile, because it would not filter by them. */
type Only<T extends Table, Allowed> = {
  [Name in Exclude<keyof T['$inferSelect'], Allowed>]?:
    | 'Add the field to filters or search of the collection.'
    | undefined
}

/** A read of pages in one order, by any filters. */
export type PagesOf<T extends Table> = (query: { limit: number; cursor: bigint }) => Promise<Entity<T>[]>

export function idOf(row: object): bigint {
  // Safe: the tables of all collections have an id of this type.
  return (row as { id: bigint }).id
}

/** A row as an entity. */
export function toEntity<T extends Table>(row: T['$inferSelect']): Entity<T> {
  // Safe: the fields are those of the row, without those that are NULL.
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as Entity<T>
}

/** The fields of a new row besides the id, each in the order of the columns. See {@link NewEntity} and {@link Generated}. */
export function fieldsOfNew(table: Table) {
  const columns = Object.entries(getTableColumns(table)).filter(([field]) => field !== 'id')
  const computed = columns.filter(([, { defaultFn }]) => defaultFn)
  return {
    given: columns.filter(([, { defaultFn }]) => !defaultFn).map(([field]) => field),
    generated: computed.map(([field]) => field),
    generate: (): Record<string, unknown> =>
      Object.fromEntries(computed.map(([field, { defaultFn }]) => [field, defaultFn?.()])),
  }
}

/**
 * A value as text. Equal values, and no others of their column, have the same text.
 *
 * @throws {TypeError} for an object, which has no such text
 */
export function textOfValue(value: unknown): string | null {
  if (value === null || value === undefined) return null
  if (value instanceof Date) return value.toISOString()
  if (typeof value === 'object') throw new TypeError('A mutation, a filter or a search got an object as a value.')
  return String(value)
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

export type Names = readonly string[]

/** The fields of a search besides the filters: by a text anywhere in them in any case, or by a value. */
export type SearchFields = Readonly<Record<string, 'text' | 'value'>>

/** The newest or the oldest rows that match all given fields. */
export type SearchQuery<T extends Table, F extends Names, S extends SearchFields> = {
  limit: number
  order: Order
  /** The id after which the page begins: `next` of the call before. */
  cursor?: bigint | undefined
  id?: bigint | undefined
} & {
  [Name in Extract<F[number] | keyof S, keyof T['$inferSelect']>]?: T['$inferSelect'][Name] | undefined
}

/** What a search has found in the part of the rows that it has read. */
export interface Found<T extends Table> {
  items: Entity<T>[]
  /** The number of rows that were read. */
  searched: number
  /** The `cursor` of the next call. Undefined if no row is left. */
  next?: bigint | undefined
}

/** If the count is not exact, it is the limit and there are more rows. */
export interface Count {
  count: number
  isExact: boolean
}

/** The fields whose rows can be counted by value: filters of text that allow only some values. */
type Counted<T extends Table, F extends Names> = {
  [Name in F[number] & keyof T['$inferSelect']]: T['$inferSelect'][Name] extends string
    ? string extends T['$inferSelect'][Name]
      ? never
      : Name
    : never
}[F[number] & keyof T['$inferSelect']]

/** What the engines of both databases derive for a collection from its table, its filters and the fields of its search. */
export interface Engine<T extends Table = Table, F extends Names = Names, S extends SearchFields = SearchFields> {
  /** Makes the method that reads pages of the collection in ascending order of id. */
  list(): (query: PageQuery<T, F[number] & keyof T['$inferSelect']> & Only<T, F[number]>) => Promise<Entity<T>[]>
  /** Makes the method that reads a row of the collection by its id. */
  get(): (id: bigint) => Promise<Entity<T> | undefined>
  /** Makes the method that reads a row of the collection by another unique field. */
  getBy<Name extends keyof T['$inferSelect'] & string>(
    field: Name,
  ): (value: NonNullable<T['$inferSelect'][Name]>) => Promise<Entity<T> | undefined>
  /** Makes the method that searches the collection. */
  search(): (
    query: SearchQuery<T, F, S> & Only<T, F[number] | keyof S | 'id'>,
    searcher?: Searcher,
  ) => Promise<Found<T>>
  /** Makes the method that counts the rows with each value of a filter, up to a limit. */
  count<Name extends Counted<T, F>>(
    field: Name,
    limit: number,
  ): () => Promise<Record<T['$inferSelect'][Name] & string, Count>>
  /** Makes the mutation that adds a row. It resolves when the row is on disk, where it survives a loss of power. */
  create(): (row: NewEntity<T>, idempotency?: IdempotencyKey) => Promise<Entity<T>>
  /** Makes the mutation that changes a row. Resolves to the changed row, or to undefined if no row has the id. */
  update(): (change: Change<T>, idempotency?: IdempotencyKey) => Promise<Entity<T> | undefined>
  /** Makes the mutation that deletes a row. Resolves to its id, or to undefined if no row has it. */
  remove(): (row: Expectation<T>, idempotency?: IdempotencyKey) => Promise<{ id: bigint } | undefined>
  /**
   * Like {@link BaseStore.revision}: a number that differs after each change of the collection. On PostgreSQL, a change that
   * another instance makes takes up to a second to show.
   */
  revision(): number | undefined
}

/**
 * A statement that returns one row with the number of the rows with each value of a column, in their order. It stops
 * counting at one row more than the limit.
 *
 * @param select selects the rows with a value
 */
export function countStatement(column: Column, limit: number, select: (value: SQL) => SQL): SQL {
  const counts = valuesOf(column).map(
    (value) =>
      sql`(SELECT count(*) FROM (${select(sql.raw(`'${value}'`))} LIMIT ${sql.raw(String(limit + 1))}) AS counted)`,
  )
  return sql`SELECT ${sql.join(counts, sql`, `)}`
}

/** @param row of {@link countStatement} */
export function toCounts(column: Column, limit: number, row: bigint[] = []): Record<string, Count> {
  const counts = valuesOf(column).map((value, index) => {
    const counted = row[index] ?? 0n
    return [value, { count: Math.min(Number(counted), limit), isExact: counted <= limit }]
  })
  return Object.fromEntries(counts)
}

function valuesOf({ enumValues, name, table }: Column): string[] {
  if (!enumValues) throw new Error(`The column ${name} of ${getTableName(table)} has no list of values to count.`)
  return enumValues
}

/** The name under which a collection lists one of its writes: that of the collection, a dot, and that of the write. */
export function operationOf(collection: string, writes: Record<string, unknown>, write: unknown): string {
  const [name] = Object.entries(writes).find(([, each]) => each === write) ?? []
  if (name === undefined) throw new Error(`The collection ${collection} does not list one of its writes.`)
  return `${collection}.${name}`
}

export interface MutationResult {
  /** What the mutation has generated. Undefined if it found no row to change. */
  generated: object | undefined
  /** Whether it is the result of an earlier call with the same idempotency key. */
  isReplay: boolean
}

/** A result that is equal when it is replayed: it is stored as text. */
export type Replayable<Generated> = { [Name in keyof Generated]: Value | undefined }

/** Runs a mutation with the values of its input. */
export type RunMutation = (values: unknown[], idempotency: IdempotencyKey | undefined) => Promise<MutationResult>

/** Makes the method of a mutation. */
export function methodOf<Input, Output>(
  valuesOf: (input: Input) => unknown[],
  run: RunMutation,
  outputOf: (generated: object | undefined, input: Input) => Output,
) {
  return async (input: Input, idempotency?: IdempotencyKey): Promise<Output> => {
    const { generated, isReplay } = await run(valuesOf(input), idempotency)
    if (idempotency) idempotency.isReplay = isReplay
    return outputOf(generated, input)
  }
}

/**
 * Makes the method of a mutation that adds what it generates to the input.
 *
 * @param fields of the input, whose values `run` gets in this order
 */
export function addingMethodOf<Input extends object, Generated extends object>(
  fields: readonly (keyof Input)[],
  run: RunMutation,
) {
  const valuesOf = (input: Input) => fields.map((field) => input[field] ?? null)
  return methodOf(valuesOf, run, (generated, input) => {
    const output: Partial<Input> = { ...generated }
    // A field that is undefined is absent.
    for (const field of fields) if (input[field] !== undefined) output[field] = input[field]
    // Safe: an operation is the name of one mutation, so these are the fields that it generates.
    return output as Generated & Input
  })
}

/** The collections and migrations of one kind of database. */
export interface Loaded<R> {
  /** The address of the module that exports the definition as `definition`. */
  url: string
  /** The command of the program, for messages and for the name of its connections. */
  program: string
  migrations: Migration[]
  collections: Record<string, R>
}
