import type Database from 'better-sqlite3'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { CollectionOn } from '../collection/derived.ts'
import { history } from '../collection/history.ts'
import { idempotencyKeys } from '../collection/idempotency.ts'
import type { Caller, Replayable } from '../collection/mutation.ts'
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

/** The writer thread prepares them, and runs them inside a transaction. */
export type AnyWrite = PrepareWrite<object | undefined>

export type CreateOf<T extends TableWithId> = SqliteMutation<NewEntity<T>, Generated<T>>

export type SqliteCollection<S = object> = CollectionOn<TableWithId, CreateOf<TableWithId>, AnyWrite, SqliteAccess, S>

export interface SqliteAccess {
  /** Makes a method that reads on the event loop. The read is one statement, and so one snapshot. */
  read<Args extends unknown[], T>(prepare: Prepare<Args, T>): (...args: Args) => Promise<T>
  /** Makes a method that runs one of the collection's mutations, and adds what it has generated to the input. */
  replayable<Input extends Replayable<Input>, Generated extends Replayable<Generated>>(
    mutation: SqliteMutation<Input, Generated>,
  ): (input: Input, caller?: Caller) => Promise<Generated & Input>
}

/** Every table that the service needs, each after those that its foreign keys refer to. */
export function tablesOf(collections: Record<string, SqliteCollection>): SQLiteTable[] {
  return [...Object.values(collections).map(({ table }) => table), idempotencyKeys, history]
}
