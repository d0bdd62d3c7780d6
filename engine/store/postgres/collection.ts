import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import type { ClientBase } from 'pg'
import type { CollectionOn, MutationsWith, StatementsOn } from '../collection/derived.ts'
import type { RuleViolation } from '../collection/errors.ts'
import type { AddingMutation, Fingerprinted, Given, Replayable } from '../collection/mutation.ts'

export type PostgresTable = PgTable & { id: PgColumn }

/** A write that shares transactions, and may have an idempotency key. Its statements return 64-bit integers as `bigint`. */
export interface BatchMutation {
  /**
   * Resolves to an outcome for each row: what it has generated, or, where it changes nothing, undefined if it found no
   * row, or the rule that the row breaks. If it rejects, for example with a violated constraint, the rows are run again
   * in parts, and those that are refused fail alone. It runs inside a transaction that has the advisory lock of inserts, so
   * that those of several instances cannot wait for each other. Mutations with the same function run together, in the order
   * of their calls: so do all changes of the rows of a collection.
   *
   * @param historyDays for how many days it keeps the entries that it leaves in the history
   */
  run(client: Queries, rows: unknown[][], historyDays?: number): Promise<Result[]>
  /** Whether `run` is one statement, which is a transaction by itself. Then calls without keys need no other one. */
  isOneStatement?: boolean
  /** A statement that checks the right to run it, and changes nothing. Without it, readiness does not check the right. */
  probe?: string
  /** Whether it generates ids, which must become visible in ascending order. Then the table needs the trigger for that. */
  hasOrderedIds: boolean
}

/** A connection, or the pool. */
export type Queries = Pick<ClientBase, 'query'>

export type Result = object | RuleViolation | undefined

/**
 * A write that may have an idempotency key. It gets the `fields` of its input, and resolves to what it has generated. It runs
 * in a transaction with others, one after the other: see {@link BatchMutation.run}. What it throws undoes it alone, but
 * the others run again, so a refusal without any change is faster as its result. By default, `hasOrderedIds` is true.
 */
export interface PostgresMutation<Input extends Fingerprinted<Input>, Generated extends Replayable<Generated>>
  extends Partial<Pick<BatchMutation, 'probe' | 'hasOrderedIds'>>,
    AddingMutation<Input, Generated> {
  run(client: Queries, input: Given<Input>): Promise<Generated | RuleViolation>
}

/** One with any input. */
export type AnyPostgresMutation = Omit<PostgresMutation<never, object>, 'method'>

export type PostgresCollection<S = object> = CollectionOn<PostgresTable, BatchMutation, PostgresAccess, S>

export interface Statement {
  name: string
  text: string
}

/** Reads rows as arrays. 64-bit integers are `bigint`. */
export type Read = <Row extends unknown[]>(statement: Statement, values: unknown[]) => Promise<Row[]>

export interface PostgresAccess {
  read: Read
}

/** The statements of a collection on PostgreSQL. */
export type StatementsOnPostgres<Mutations, Reads> = StatementsOn<
  MutationsWith<AnyPostgresMutation, Mutations>,
  PostgresAccess,
  Reads
>
