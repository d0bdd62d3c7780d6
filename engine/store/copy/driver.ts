import type { Column, SQL, Table } from 'drizzle-orm'
import type { UnusableDatabase } from '../collection/errors.ts'

/**
 * The values of a row in the order of the columns, as text that does not depend on the database: an integer as decimal
 * digits, a boolean as 1 or 0, a time as ISO 8601 in UTC with milliseconds.
 */
export type TextRow = [id: string, ...values: (string | null)[]]

/** What a copy needs of SQLite or PostgreSQL, in one transaction. Every failure becomes an {@link UnusableDatabase}. */
export interface CopyDatabase {
  /** The path, or the URL without a password, for messages. */
  name: string
  /** How an operator removes the rows of this database, as a clause. */
  emptying: string
  /** @throws {UnusableDatabase} if another process of this service has the database open, which could write to it. */
  refuseOthers(): Promise<void>
  /** Each after those that its foreign keys refer to. The first column of each is the primary key `id`. */
  tables: Table[]
  /** Runs a statement that returns only text. */
  query(statement: SQL): Promise<TextRow[]>
  /** The value of a column as text. See {@link TextRow}. */
  asText(column: Column): SQL
  /** Rejects with what `toError` makes of the database's message, and of the row if it knows which one it has refused. */
  insert(table: Table, rows: TextRow[], toError: (message: string, row?: TextRow) => UnusableDatabase): Promise<void>
  /** Returns the last id that the database has assigned, also to a row that is deleted; 0 if there is none. */
  lastId(table: Table): Promise<bigint>
  /** Makes the database assign only greater ids. PostgreSQL does not roll this back. */
  setLastId(table: Table, id: bigint): Promise<void>
  /** Resolves once the rows are on disk. */
  commit(): Promise<void>
  /** Closes it, and rolls back unless the transaction was committed. */
  [Symbol.asyncDispose](): Promise<void>
}
