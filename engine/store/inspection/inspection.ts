import { getTableName, type SQL, sql, type Table } from 'drizzle-orm'
import { reasons, UnusableDatabase } from '../collection/errors.ts'
import { columnOf } from '../collection/row.ts'
import { type AppliedMigration, type Migration, pendingMigrations } from '../database/migrations.ts'

export interface SchemaState {
  /** The names of the applied migrations in ascending order. Empty if the database has no tables yet. */
  applied: string[]
  pending: Migration[]
  /** Why this release cannot use the schema; undefined if it can. */
  problem: string | undefined
}

export interface TableContents {
  rows: number
  /** Null if the table has no row. */
  newestId: bigint | null
}

/** What an inspection needs of SQLite or PostgreSQL. Every failure of the database is an {@link UnusableDatabase}. */
interface InspectedDatabase {
  /** The path, or the URL without a password, for messages. */
  name: string
  migrations: Migration[]
  collections: Record<string, { table: Table }>
  hasTable(name: string): Promise<boolean>
  query(statement: SQL): Promise<unknown[][]>
  /** None if there is no journal. */
  readApplied(): Promise<AppliedMigration[]>
  /** What is missing although the journal is up to date, as a reason. */
  findMissingPart(): Promise<string | undefined>
}

/** Facts for operators that are read in the same way from both databases. Reading them changes nothing. */
export function inspectionOf(database: InspectedDatabase) {
  const { name, migrations, collections, query } = database
  return {
    async schema(): Promise<SchemaState> {
      const applied = await database.readApplied()
      const state = schemaState(applied, migrations, name)
      if (applied.length === 0 && state.problem === undefined) {
        // One after the other: a connection runs one statement at a time.
        for (const { table } of Object.values(collections)) {
          if (await database.hasTable(getTableName(table))) return { ...state, problem: reasons.noJournal }
        }
      }
      if (state.problem !== undefined || state.pending.length > 0) return state
      return { ...state, problem: await database.findMissingPart() }
    },
    /** The table of each collection by its name, without those that do not exist yet. */
    async contents(): Promise<Record<string, TableContents>> {
      const contents: Record<string, TableContents> = {}
      for (const [name, { table }] of Object.entries(collections)) {
        if (!(await database.hasTable(getTableName(table)))) continue
        const [[rows, newestId] = []] = await query(sql`SELECT count(*), max(${columnOf(table, 'id')}) FROM ${table}`)
        contents[name] = { rows: Number(rows), newestId: newestId === null ? null : BigInt(String(newestId)) }
      }
      return contents
    },
  }
}

function schemaState(applied: AppliedMigration[], migrations: Migration[], database: string): SchemaState {
  const names = applied.map(({ name }) => name)
  try {
    return { applied: names, pending: pendingMigrations(applied, migrations, database), problem: undefined }
  } catch (error) {
    if (!(error instanceof UnusableDatabase)) throw error
    return { applied: names, pending: [], problem: error.reason }
  }
}
