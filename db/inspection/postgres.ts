import { drizzle } from 'drizzle-orm/node-postgres'
import type { PgTable } from 'drizzle-orm/pg-core'
import type { Client } from 'pg'
import { inspectionOf, type PostgresInspection, type ServerState } from '../inspection.ts'
import { describeLocation } from '../location.ts'
import { connectClient } from '../postgres/connection/connection.ts'
import { unusable } from '../postgres/connection/failure.ts'
import { findMissingPart, hasTable, journal, readJournal } from '../postgres/migrate.ts'
import type { PostgresResource } from '../postgres/resource.ts'
import { query } from '../postgres/statements.ts'
import type { Loaded } from '../resource.ts'

/** Milliseconds. Counting the rows of a large table takes longer than the statements of requests may take. */
const timeout = 60_000

/** @throws {UnusableDatabase} */
export async function inspectPostgres(url: string, loaded: Loaded<PostgresResource>): Promise<PostgresInspection> {
  const options = { statement_timeout: timeout, query_timeout: timeout }
  const client = await attempt(url, () => connectClient(url, options))
  const db = drizzle({ client })
  const common = inspectionOf<PgTable>({
    name: describeLocation({ kind: 'postgres', url }),
    ...loaded,
    hasTable: (table) => attempt(url, () => hasTable(db, table)),
    query: (statement) => attempt(url, () => query(client, statement)),
    readApplied: () => attempt(url, async () => ((await hasTable(db, journal)) ? readJournal(db) : [])),
    findMissingPart: () => attempt(url, () => findMissingPart(db, loaded.resources)),
  })
  return {
    kind: 'postgres',
    ...common,
    bytes: () => attempt(url, () => readSize(client)),
    server: () => attempt(url, () => readServer(client)),
    close: () => client.end(),
  }
}

async function readSize(client: Client): Promise<{ database: number }> {
  const { rows } = await client.query<{ bytes: string }>('SELECT pg_database_size(current_database()) AS bytes')
  return { database: Number(rows[0]?.bytes) }
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

async function attempt<T>(url: string, step: () => Promise<T>): Promise<T> {
  try {
    return await step()
  } catch (error) {
    throw unusable(url, error)
  }
}
