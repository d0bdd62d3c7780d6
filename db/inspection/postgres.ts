import { getTableColumns, is, sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import { PgTimestamp } from 'drizzle-orm/pg-core'
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
import { findMissingPart, hasJournal, readJournal } from '../postgres/migrate.ts'
import type { PostgresResource } from '../postgres/resource.ts'
import { textOf } from '../postgres/statements.ts'
import type { Loaded } from '../resource.ts'

/** Milliseconds. Counting the rows of a large table takes longer than the statements of requests may take. */
const timeout = 60_000

/** @throws {UnusableDatabase} */
export async function inspectPostgres(url: string, loaded: Loaded<PostgresResource>): Promise<PostgresInspection> {
  const client = await attempt(url, () => connectClient(url, { statement_timeout: timeout, query_timeout: timeout }))
  return {
    kind: 'postgres',
    schema: () => attempt(url, () => readSchema(client, url, loaded)),
    counts: () => attempt(url, () => countRows(client, loaded)),
    newestTime: () => attempt(url, () => readNewestTime(client, loaded)),
    bytes: () => attempt(url, () => readSize(client)),
    server: () => attempt(url, () => readServer(client)),
    close: () => client.end(),
  }
}

async function readSchema(
  client: Client,
  url: string,
  { migrations, resources }: Loaded<PostgresResource>,
): Promise<SchemaState> {
  const db = drizzle({ client })
  const applied = (await hasJournal(db)) ? await readJournal(db) : []
  const state = schemaState(applied, migrations, describeLocation({ kind: 'postgres', url }))
  return withMissingPart(state, state.pending.length > 0 ? undefined : await findMissingPart(db, resources))
}

async function countRows(client: Client, { resources }: Loaded<PostgresResource>): Promise<RowCounts> {
  const counts: RowCounts = {}
  for (const [name, { table }] of Object.entries(resources)) counts[name] = await drizzle({ client }).$count(table)
  return counts
}

/** The newest time in the tables and in the journal of migrations, without `infinity`, which an old schema allows. */
async function readNewestTime(client: Client, { resources }: Loaded<PostgresResource>): Promise<Date | undefined> {
  const times = Object.values(resources).flatMap(({ table }) =>
    Object.values(getTableColumns(table))
      .filter((column) => is(column, PgTimestamp))
      .map((column) => sql`SELECT ${column} AS time FROM ${table}`),
  )
  const all = sql.join([sql`SELECT applied_at AS time FROM migrations`, ...times], sql` UNION ALL `)
  const { rows } = await client.query<{ newest: Date | null }>(
    textOf(sql`SELECT max(time) AS newest FROM (${all}) AS times WHERE isfinite(time)`),
  )
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
