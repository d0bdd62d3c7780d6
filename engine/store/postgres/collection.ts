import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import type { ClientBase } from 'pg'
import type { CollectionOn } from '../collection/derived.ts'
import type { RuleViolation } from '../collection/errors.ts'
import type { Caller, Replayable } from '../collection/mutation.ts'
import type { Generated, NewEntity } from '../collection/row.ts'

export type PostgresTable = PgTable & { id: PgColumn }

/** A write that shares transactions, and may have an idempotency key. Its statements return 64-bit integers as `bigint`. */
export interface AnyMutation {
  /**
   * Resolves to an outcome for each row: what it has generated, or, where it changes nothing, undefined if it found no
   * row, or the rule that the row breaks. If it rejects, for example with a violated constraint, the rows are run again
   * in parts, and those that are refused fail alone. It runs inside a transaction that has the advisory lock of inserts, so
   * that those of several instances cannot wait for each other.
   *
   * @param historyDays for how many days it keeps the entries that it leaves in the history
   */
  run(client: Queries, rows: unknown[][], historyDays?: number): Promise<Result[]>
  /** Whether `run` is one statement, which is a transaction by itself. Then calls without keys need no other one. */
  isOneStatement?: boolean
  /** A statement that checks the right to run it, and changes nothing. */
  probe: string
  /** Whether the ids that it generates must become visible in ascending order. */
  hasOrderedIds: boolean
}

/** A connection, or the pool. */
export type Queries = Pick<ClientBase, 'query'>

export type Result = object | RuleViolation | undefined

export interface PostgresMutation<Input extends object, Generated extends object> extends AnyMutation {
  /** The values of a row are those of these fields in their order. */
  fields: readonly (keyof Input & string)[]
  run(client: Queries, rows: unknown[][]): Promise<(Generated | RuleViolation)[]>
}

export type CreateOf<T extends PostgresTable> = PostgresMutation<NewEntity<T>, Generated<T>>

export type PostgresCollection<S = object> = CollectionOn<
  PostgresTable,
  CreateOf<PostgresTable>,
  AnyMutation,
  PostgresAccess,
  S
>

export interface Statement {
  name: string
  text: string
}

/** Reads rows as arrays. 64-bit integers are `bigint`. */
export type Read = <Row extends unknown[]>(statement: Statement, values: unknown[]) => Promise<Row[]>

export interface PostgresAccess {
  read: Read
  /** Makes a method that runs one of the collection's mutations, and adds what it has generated to the input. */
  replayable<Input extends Replayable<Input>, Generated extends Replayable<Generated>>(
    mutation: PostgresMutation<Input, Generated>,
  ): (input: Input, caller?: Caller) => Promise<Generated & Input>
}
