import type Database from 'better-sqlite3'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Derived } from '../collection/derived.ts'
import { history } from '../collection/history.ts'
import { type IdempotencyKey, idempotencyKeys } from '../collection/idempotency.ts'
import type { Replayable } from '../collection/mutation.ts'
import type { Names, SearchFields } from '../collection/query.ts'
import type { Generated, NewEntity } from '../collection/row.ts'

export type TableWithId = SQLiteTable & { id: SQLiteColumn }

/** Prepares its statements on a connection, and returns the function that runs them. */
export type Prepare<Args extends unknown[], T> = (connection: Database.Database) => (...args: Args) => T

/** Like {@link Prepare}. A write that leaves entries in the history keeps them for so many days. */
export type PrepareWrite<T> = (connection: Database.Database, historyDays?: number) => (...args: unknown[]) => T

/** A write that may have an idempotency key. It takes the values of `fields`, and returns only what it has generated. */
export type SqliteMutation<Input extends object, Generated extends object> = Prepare<unknown[], Generated> & {
  fields: readonly (keyof Input & string)[]
}

/** What a collection has of its own on SQLite. */
export interface OwnOnSqlite<S> {
  /** Every mutation of its own, by its name. The writer thread prepares them, and runs them inside a transaction. */
  writes: Record<string, PrepareWrite<object | undefined>>
  open(access: SqliteAccess): S
}

export interface SqliteCollection<S = object> extends OwnOnSqlite<S> {
  table: TableWithId
  filters: Names
  search?: SearchFields | undefined
  mutations: DerivedMutations
  open(access: Derived & SqliteAccess): S
}

export interface DerivedMutations<T extends TableWithId = TableWithId> {
  create: SqliteMutation<NewEntity<T>, Generated<T>>
  /** These take the values of `changeMethodOf`. */
  update: PrepareWrite<object | undefined>
  remove: PrepareWrite<object | undefined>
  /** Those of its own, by their names. */
  changes: Record<string, PrepareWrite<object | undefined>>
}

export interface SqliteAccess {
  /** Makes a method that reads on the event loop. The read is one statement, and so one snapshot. */
  read<Args extends unknown[], T>(prepare: Prepare<Args, T>): (...args: Args) => Promise<T>
  /** Makes a method that runs one of the collection's mutations, and adds what it has generated to the input. */
  replayable<Input extends Replayable<Input>, Generated extends Replayable<Generated>>(
    mutation: SqliteMutation<Input, Generated>,
  ): (input: Input, idempotency?: IdempotencyKey) => Promise<Generated & Input>
}

/** Every table that the service needs, each after those that its foreign keys refer to. */
export function tablesOf(collections: Record<string, SqliteCollection>): SQLiteTable[] {
  return [...Object.values(collections).map(({ table }) => table), idempotencyKeys, history]
}
