import { drizzle } from 'drizzle-orm/node-postgres'
import type { PgTable } from 'drizzle-orm/pg-core'
import type { Client } from 'pg'
import type { Loaded } from '../database/loaded.ts'
import type { PostgresCollection } from '../postgres/collection.ts'
import { connectClient } from '../postgres/connection/connection.ts'
import { orUnusable, urlWithoutPassword } from '../postgres/connection/failure.ts'
import { findMissingPart, hasTable, journal, readJournal } from '../postgres/migrate.ts'
import { databaseSize, query } from '../postgres/statements.ts'
import { inspectionOf, type PostgresInspection, type ServerState } from './inspection.ts'

/** Milliseconds. Counting the rows of a large table takes longer than the statements of requests may take. */
const timeout = 60_000

export async function inspectPostgres(url: string, loaded: Loaded<PostgresCollection>): Promise<PostgresInspection> {
  const options = { application_name: loaded.program, statement_timeout: timeout, query_timeout: timeout }
  const client = await orUnusable(url, () => connectClient(url, options))
  const db = drizzle({ client })
  const common = inspectionOf<PgTable>({
    name: urlWithoutPassword(url),
    ...loaded,
    hasTable: (table) => orUnusable(url, () => hasTable(db, table)),
    query: (statement) => orUnusable(url, () => query(client, statement)),
    readApplied: () => orUnusable(url, async () => ((await hasTable(db, journal)) ? readJournal(db) : [])),
    findMissingPart: () => orUnusable(url, () => findMissingPart(db, loaded.collections)),
  })
  return {
    kind: 'postgres',
    ...common,
    bytes: () => orUnusable(url, async () => ({ database: await databaseSize(client) })),
    server: () => orUnusable(url, () => readServer(client)),
    close: () => client.end(),
  }
}

async function readServer(client: Client): Promise<ServerState> {
  const { rows } = await client.query<ServerState>(`
    SELECT
      current_setting('server_version') AS version,
      current_setting('server_encoding') AS encoding,
      current_setting('transaction_read_only') = 'on' AS "isReadOnly"`)
  const [state] = rows
  if (!state) throw new Error('A SELECT without FROM returned no row.')
  return state
}
