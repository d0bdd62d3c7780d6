import type Database from 'better-sqlite3'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { CollectionOn, MutationsWith, StatementsOn } from '../collection/derived.ts'
import { history } from '../collection/history.ts'
import { idempotencyKeys } from '../collection/idempotency.ts'
import type { AddingMutation, Fingerprinted, Given, Replayable } from '../collection/mutation.ts'
import type { TableWithId } from '../collection/row.ts'

/** Prepares its statements on a connection, and returns the function that runs them. */
export type Prepare<Args extends unknown[], T> = (connection: Database.Database) => (...args: Args) => T

/** A write that may have an idempotency key. It gets the `fields` of its input, and returns only what it has generated. */
export interface SqliteMutation<Input extends Fingerprinted<Input>, Generated extends Replayable<Generated>>
  extends AddingMutation<Input, Generated> {
  prepare: Prepare<[input: Given<Input>], Generated>
}

/** One with any input. */
export type AnySqliteMutation = Omit<SqliteMutation<never, object>, 'method'>

/** The writer thread prepares them, and runs them inside a transaction. Entries in the history are kept for so many days. */
export type PreparedMutation = (
  connection: Database.Database,
  historyDays?: number,
) => (...args: unknown[]) => object | undefined

export type SqliteCollection<S = object> = CollectionOn<TableWithId, PreparedMutation, SqliteAccess, S>

export interface SqliteAccess {
  /** Makes a method that reads on the event loop. The read is one statement, and so one snapshot. */
  read<Args extends unknown[], T>(prepare: Prepare<Args, T>): (...args: Args) => Promise<T>
}

/** The statements of a collection on SQLite. */
export type StatementsOnSqlite<Mutations, Reads> = StatementsOn<
  MutationsWith<AnySqliteMutation, Mutations>,
  SqliteAccess,
  Reads
>

/** Every table that the service needs, each after those that its foreign keys refer to. */
export function tablesOf(collections: Record<string, SqliteCollection>): SQLiteTable[] {
  return [...Object.values(collections).map(({ table }) => table), idempotencyKeys, history]
}
