import type { PgTable } from 'drizzle-orm/pg-core'
import type { ClientBase, Pool } from 'pg'
import type { Once } from '../store.ts'
import type { Failures } from './failure.ts'
import { idempotencyKeys } from './idempotency.ts'

/** What the engine of PostgreSQL knows of a resource, and offers to it. */

/**
 * A write that shares transactions and may have an idempotency key. It takes rows with the values of `fields` in their
 * order, and returns for each row only what the database has generated.
 */
export interface AnyMutation {
  fields: readonly string[]
  run(database: Pool | ClientBase, rows: unknown[][]): Promise<object[]>
  /** Whether `run` is one statement for all rows, and so a transaction by itself. Otherwise it runs inside a transaction. */
  isOneStatement: boolean
  /** A statement that checks the right to run it, and changes nothing. */
  probe: string
  /** Whether the ids that it generates must become visible in ascending order. */
  hasOrderedIds: boolean
}

export interface Mutation<Input extends object, Generated extends object> extends AnyMutation {
  fields: readonly (keyof Input & string)[]
  run(database: Pool | ClientBase, rows: unknown[][]): Promise<Generated[]>
}

export interface PostgresResource<S = object, T extends PgTable = PgTable> {
  table: T
  /** The fields by which its list can be filtered. Each needs an index that ends with the id. */
  filters?: readonly string[]
  mutations: Record<string, AnyMutation>
  /** Makes what the resource adds to the store. */
  open(engine: PostgresEngine): S
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
  url: string
  failures: Failures
  read: Read
  /** Makes a method that runs one of the resource's mutations, and adds what the database has generated to the input. */
  mutation<Input extends object, Generated extends object>(
    mutation: Mutation<Input, Generated>,
  ): (input: Input, once?: Once) => Promise<Generated & Input>
  /** Adds work to the end of the store. */
  onClose(close: () => Promise<void>): void
}

/** Every table that the service needs, each after those that its foreign keys refer to. */
export function tablesOf(resources: Record<string, PostgresResource>): PgTable[] {
  return [...Object.values(resources).map(({ table }) => table), idempotencyKeys]
}
