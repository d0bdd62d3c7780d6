/**
 * What the copy of a whole store needs of two databases, of any kind each. All that is asked of them may reject with
 * {@link UnusableDatabase}, and one sentence for the operator; nothing else that a database throws crosses this line.
 */

import { type AppliedMigration, type Migration, pendingMigrations } from '../migrations.ts'
import type { ApiKey, IdempotencyKey, Pet } from '../store.ts'
import { UnusableDatabase } from '../unusable-database.ts'

/** What is kept of a creation that may be repeated. */
export interface IdempotencyRecord extends IdempotencyKey {
  id: bigint
  fingerprint: string
  petId: bigint
  createdAt: Date
}

/** The values of a row have the same order in databases of any kind. */
export interface SourceTable<Row> {
  name: string
  count(): Promise<number>
  /** At most so many rows in ascending id, from this id on. */
  read(from: bigint, limit: number): Promise<Row[]>
  /** The highest id that the database knows to have given, perhaps to a row that is gone; 0 if it does not know. */
  lastId(): Promise<bigint>
}

export interface TargetTable<Row> extends SourceTable<Row> {
  /** Rejects with {@link RowsRefused} if a row breaks a rule of the table. */
  insert(rows: Row[]): Promise<void>
  /** Lets the ids that are given from now on be greater than this one. */
  continueAfter(id: bigint): Promise<void>
}

/** A database as it is at one moment, which is not written to. */
export interface Source {
  /** Is another one for each database, and the same however its location is spelled. */
  identity: string
  apiKeys: SourceTable<ApiKey>
  pets: SourceTable<Pet>
  idempotencyKeys: SourceTable<IdempotencyRecord>
  close(): Promise<void>
}

/** A database in a transaction, which sees what it wrote, while nobody else adds to these tables. */
export interface Target {
  apiKeys: TargetTable<ApiKey>
  pets: TargetTable<Pet>
  idempotencyKeys: TargetTable<IdempotencyRecord>
  /** Resolves once what was written is on disk. */
  commit(): Promise<void>
  /** Undoes what was not committed. */
  close(): Promise<void>
}

/** A row that a table does not take. The message is the database's. */
export class RowsRefused extends Error {
  override name = 'RowsRefused'
}

/** @throws {UnusableDatabase} if the database to copy from would have to be migrated, and so changed. */
export function refuseOtherRelease(applied: AppliedMigration[], migrations: Migration[], database: string): void {
  if (pendingMigrations(applied, migrations, database).length > 0)
    throw new UnusableDatabase(database, 'it is of an older release; start this release on it once, and try again')
}

/** @throws {UnusableDatabase} if the database to fill is the one to copy from. */
export function refuseSource(identity: string | undefined, source: string, database: string): void {
  if (identity === source) throw new UnusableDatabase(database, 'it is the one to copy from; name another one in --to')
}
