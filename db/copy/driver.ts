import { type Table as DrizzleTable, getTableColumns, getTableName } from 'drizzle-orm'
import type { OnMigrate } from '../migrations.ts'
import type { ResourceList } from '../resource-list.ts'
import { UnusableDatabase } from '../unusable-database.ts'

/** A table of the store. It has the same columns in every database. The first one is the primary key `id`. */
export interface Table {
  name: string
  columns: Column[]
}

export interface Column {
  name: string
  /** The type in this database, such as `bigint`. */
  type: string
}

/** The tables of a database, each after those that its foreign keys refer to. */
export function describeTables(tables: DrizzleTable[]): Table[] {
  return tables.map((table) => ({
    name: getTableName(table),
    columns: Object.values(getTableColumns(table)).map((column) => ({ name: column.name, type: column.getSQLType() })),
  }))
}

/**
 * The values of a row in the order of the columns, as text that does not depend on the database: an integer as decimal
 * digits, a boolean as 1 or 0, a time as ISO 8601 in UTC with milliseconds.
 */
export type Row = [id: string, ...values: (string | null)[]]

/** What a copy needs of SQLite or PostgreSQL. Every failure of the database becomes an {@link UnusableDatabase}. */
export interface CopyDriver {
  /** Opens a snapshot of a database, which the copy only reads. */
  openSource(address: string, resources: ResourceList): Promise<CopyDatabase>
  /** Creates the database if necessary, and keeps other processes from inserting into it. Refuses the source itself. */
  openTarget(
    address: string,
    resources: ResourceList,
    sourceIdentity: string,
    onMigrate?: OnMigrate,
  ): Promise<CopyDatabase>
}

/** A database in one transaction. */
export interface CopyDatabase {
  /** The path, or the URL without a password, for messages. */
  name: string
  /** Identifies the database, whatever path or URL leads to it. */
  identity: string
  tables: Table[]
  count(table: Table): Promise<number>
  /** Reads at most `limit` rows with `id >= from` in ascending order of id. */
  read(table: Table, from: bigint, limit: number): Promise<Row[]>
  /** Rejects with {@link RowsRefused} if a row violates a constraint. */
  insert(table: Table, rows: Row[]): Promise<void>
  /** Returns the highest id that the database has assigned, also to a row that is deleted; 0 if there is none. */
  lastId(table: Table): Promise<bigint>
  /** Makes the database assign only greater ids. PostgreSQL does not roll this back. */
  setLastId(table: Table, id: bigint): Promise<void>
  /** Resolves once the rows are on disk. */
  commit(): Promise<void>
  /** Rolls back unless the transaction was committed. */
  close(): Promise<void>
}

/** A row violates a constraint of its table. The message is the database's. */
export class RowsRefused extends Error {
  override name = 'RowsRefused'
}

/** @throws {UnusableDatabase} if source and target are one database. */
export function refuseSameDatabase(identity: string | undefined, source: string, database: string): void {
  if (identity === source)
    throw new UnusableDatabase(database, 'it is also the source of the copy; choose another database in --to')
}
