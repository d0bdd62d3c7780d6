import type Database from 'better-sqlite3'
import { isUpToDate, otherRelease } from '../../migrations.ts'
import type { Loaded } from '../../resource.ts'
import { findMissingPart, readJournal } from '../migrate.ts'
import { type Prepare, type SqliteResource, tablesOf } from '../resource.ts'

export type Reads = ReturnType<typeof prepareReads>

/** Prepares every statement that only reads. Each read is one statement, and so one snapshot. */
export function prepareReads(
  connection: Database.Database,
  { migrations, resources }: Loaded<SqliteResource>,
  reads: Prepare<never[], unknown>[],
) {
  const dataVersion = connection.prepare<[], number>('PRAGMA data_version').pluck().safeIntegers(false)
  return {
    /** In the order of the parameter. */
    reads: reads.map((prepare) => prepare(connection)),
    /** Changes with each commit of another connection (https://sqlite.org/pragma.html#pragma_data_version). */
    dataVersion: (): number | undefined => dataVersion.get(),
    /** Why this release cannot use the schema; undefined if it can. */
    schemaProblem: (): string | undefined =>
      isUpToDate(readJournal(connection), migrations) ? findMissingPart(connection, tablesOf(resources)) : otherRelease,
  }
}
