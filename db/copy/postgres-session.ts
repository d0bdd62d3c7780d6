import { sql } from 'drizzle-orm'
import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres'
import type { Client } from 'pg'
import { connectClient } from '../postgres/connection.ts'

/** The connection of a copy, and its one transaction. */
export type CopySession = NodePgDatabase & { $client: Client }

/** A copy takes as long as it takes, but does not wait for long for others. */
const patience = {
  lock_timeout: 10_000,
  statement_timeout: 0,
  query_timeout: 0,
  idle_in_transaction_session_timeout: 0,
}

/**
 * Begins a transaction on a connection of its own, and makes of it what `prepare` does; if that fails, the connection is
 * closed.
 */
export async function beginCopy<T>(
  url: string,
  mode: 'REPEATABLE READ READ ONLY' | 'READ COMMITTED READ WRITE',
  prepare: (session: CopySession) => Promise<T>,
): Promise<T> {
  const client = await connectClient(url, patience)
  try {
    const session = drizzle({ client })
    await client.query(`BEGIN ISOLATION LEVEL ${mode}`)
    await session.execute(noTimeouts)
    return await prepare(session)
  } catch (error) {
    await client.end().catch(() => {})
    throw error
  }
}

/** Timeouts that the URL, the role or the database may set. Not every server has all of them. */
const noTimeouts = sql`
  SELECT set_config(name, '0', true) FROM pg_settings
  WHERE name IN ('statement_timeout', 'transaction_timeout', 'idle_in_transaction_session_timeout')`

/** Another text for each set of our tables on any server, whatever its address is. */
export async function identify(session: CopySession): Promise<string> {
  const { rows } = await session.execute<{ identity: string }>(sql`
    SELECT concat_ws(' ', extract(epoch FROM pg_postmaster_start_time()), oid, to_regclass('pets')::oid) AS identity
    FROM pg_database WHERE datname = current_database()`)
  return rows[0]?.identity ?? ''
}
