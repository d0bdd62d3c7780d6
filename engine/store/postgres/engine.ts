import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import type { ClientBase, Pool } from 'pg'
import type { IdempotencyKey } from '../base-store.ts'
import type { Engine, Generated, Names, NewEntity, Replayable, SearchFields } from '../collection/entity.ts'
import type { RuleViolation } from '../errors.ts'
import type { Failures } from './connection/failure.ts'

/** What the engine of PostgreSQL knows of a collection, and offers to it. */

export type TableWithId = PgTable & { id: PgColumn }

/**
 * A write that shares transactions and may have an idempotency key. It takes rows with the values of `fields` in their
 * order. The rows that its statements return have 64-bit integers as `bigint`.
 */
export interface AnyMutation {
  fields: readonly string[]
  /**
   * Resolves to an outcome for each row: what it has generated, or the rule that the row breaks. A row that breaks a rule
   * must change nothing. If it rejects, for example with a violated constraint, the rows are run again in parts, and those
   * that are refused fail alone.
   */
  run(database: Pool | ClientBase, rows: unknown[][]): Promise<(object | RuleViolation)[]>
  /**
   * Whether `run` is one statement for all rows, and so a transaction by itself. Otherwise it runs inside a transaction that
   * has the advisory lock of inserts, so that those of several instances cannot wait for each other.
   */
  isOneStatement: boolean
  /** A statement that checks the right to run it, and changes nothing. */
  probe: string
  /** Whether the ids that it generates must become visible in ascending order. */
  hasOrderedIds: boolean
}

export interface Mutation<Input extends object, Generated extends object> extends AnyMutation {
  fields: readonly (keyof Input & string)[]
  run(database: Pool | ClientBase, rows: unknown[][]): Promise<(Generated | RuleViolation)[]>
}

/** What a collection has of its own on PostgreSQL. */
export interface OwnOnPostgres<S> {
  /** Every mutation of its own, by its name. Other writes use the pool. */
  writes?: Record<string, AnyMutation>
  /** Makes what it adds to the store. */
  open(engine: PostgresEngine): S
}

export interface PostgresCollection<S = object> {
  table: TableWithId
  filters: Names
  search?: SearchFields | undefined
  /** Every mutation, by its name. */
  writes: Record<string, AnyMutation>
  /** The derived mutation `create`. */
  insert: Mutation<NewEntity<TableWithId>, Generated<TableWithId>>
  /** Makes what the collection adds to the store. */
  open(engine: Engine & PostgresEngine): S
}

/** A prepared statement. */
export interface Statement {
  name: string
  text: string
}

/** Reads rows as arrays. 64-bit integers are `bigint`. */
export type Read = <Row extends unknown[]>(statement: Statement, values: unknown[]) => Promise<Row[]>

export interface PostgresEngine {
  pool: Pool
  failures: Failures
  read: Read
  /** Makes a method that runs one of the collection's mutations, and adds what it has generated to the input. */
  replayable<Input extends object, Generated extends Replayable<Generated>>(
    mutation: Mutation<Input, Generated>,
  ): (input: Input, idempotency?: IdempotencyKey) => Promise<Generated & Input>
}
