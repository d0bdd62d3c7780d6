import { drizzle } from 'drizzle-orm/node-postgres'
import type { Client } from 'pg'
import {
  type PostgresInspection,
  type RowCounts,
  type SchemaState,
  type ServerState,
  schemaState,
  withMissingPart,
} from '../inspection.ts'
import { describeLocation } from '../location.ts'
import { connectClient } from '../postgres/connection.ts'
import { unusable } from '../postgres/failure.ts'
import { findMissingPart, hasJournal, readJournal, readOwnMigrations } from '../postgres/migrate.ts'
import { importerHash } from '../store.ts'

/** Milliseconds. Counting the rows of a large table takes longer than the statements of requests may take. */
const timeout = 60_000

/** @throws {UnusableDatabase} */
export async function inspectPostgres(url: string): Promise<PostgresInspection> {
  const client = await attempt(url, () => connectClient(url, { statement_timeout: timeout, query_timeout: timeout }))
  return {
    kind: 'postgres',
    schema: () => attempt(url, () => readSchema(client, url)),
    counts: () => attempt(url, () => countRows(client)),
    newestTime: () => attempt(url, () => readNewestTime(client)),
    bytes: () => attempt(url, () => readSize(client)),
    server: () => attempt(url, () => readServer(client)),
    close: () => client.end(),
  }
}

async function readSchema(client: Client, url: string): Promise<SchemaState> {
  const db = drizzle({ client })
  const applied = (await hasJournal(db)) ? await readJournal(db) : []
  const state = schemaState(applied, readOwnMigrations(), describeLocation({ kind: 'postgres', url }))
  return withMissingPart(state, state.pending.length > 0 ? undefined : await findMissingPart(db))
}

async function countRows(client: Client): Promise<RowCounts> {
  const { rows } = await client.query<Record<keyof RowCounts, string>>(
    'SELECT (SELECT count(*) FROM pets) AS pets, (SELECT count(*) FROM api_keys WHERE hash <> $1) AS keys',
    [importerHash],
  )
  return { pets: Number(rows[0]?.pets), keys: Number(rows[0]?.keys) }
}

/** Without `infinity`, which an old schema allows. */
async function readNewestTime(client: Client): Promise<Date | undefined> {
  const { rows } = await client.query<{ newest: Date | null }>(`
    SELECT max(time) AS newest FROM (
      SELECT created_at AS time FROM api_keys
      UNION ALL SELECT last_used_at FROM api_keys
      UNION ALL SELECT applied_at FROM migrations
    ) AS times WHERE isfinite(time)`)
  return rows[0]?.newest ?? undefined
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
      current_setting('transaction_read_only') = 'on' AS "isReadOnly",
      current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
        - coalesce(nullif(current_setting('reserved_connections', true), ''), '0')::int
        - (SELECT sum(numbackends) FROM pg_stat_database)::int AS "connectionsLeft",
      clock_timestamp() AS time`)
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
