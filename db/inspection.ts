import { type AppliedMigration, type Migration, pendingMigrations } from './migrations.ts'
import { incomplete, UnusableDatabase } from './unusable-database.ts'

/**
 * Reads facts about a database for operators. It changes nothing, and works while the service uses the database. Every
 * method may reject with {@link UnusableDatabase}.
 */
export type Inspection = SqliteInspection | PostgresInspection

interface CommonInspection {
  schema(): Promise<SchemaState>
  /** Only of a database that has tables. */
  counts(): Promise<RowCounts>
  /** Undefined if no time can be read. */
  newestTime(): Promise<Date | undefined>
  close(): Promise<void>
}

export interface SqliteInspection extends CommonInspection {
  kind: 'sqlite'
  bytes(): Promise<{ database: number; log: number }>
  /** Reads every page, which takes about a millisecond per MiB. */
  checkPages(): Promise<void>
}

export interface PostgresInspection extends CommonInspection {
  kind: 'postgres'
  bytes(): Promise<{ database: number }>
  server(): Promise<ServerState>
}

export interface SchemaState {
  /** The names of the applied migrations in ascending order. Empty if the database has no tables yet. */
  applied: string[]
  pending: Migration[]
  /** Why this release cannot use the schema; undefined if it can. */
  problem: string | undefined
}

/** The rows of each resource by its name. */
export type RowCounts = Record<string, number>

export interface ServerState {
  /** Such as `18.4`. */
  version: string
  encoding: string
  isReadOnly: boolean
  /** Connections that programs without special rights may still open. */
  connectionsLeft: number
  time: Date
}

/** @param database its path or URL, for the message. */
export function schemaState(applied: AppliedMigration[], migrations: Migration[], database: string): SchemaState {
  const names = applied.map(({ name }) => name)
  try {
    return { applied: names, pending: pendingMigrations(applied, migrations, database), problem: undefined }
  } catch (error) {
    if (!(error instanceof UnusableDatabase)) throw error
    return { applied: names, pending: [], problem: error.reason }
  }
}

/** @param missing what the database says about a table or a column that is missing. */
export function withMissingPart(state: SchemaState, missing: string | undefined): SchemaState {
  if (missing === undefined || state.problem !== undefined) return state
  return { ...state, problem: incomplete(missing) }
}
