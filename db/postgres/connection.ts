import { Client, type ClientBase, type ClientConfig, Pool, type PoolClient } from 'pg'

/** Milliseconds. An answer that comes later would reach nobody: callers have been told to try again. */
export const patience = { connect: 2_000, lock: 2_000, statement: 4_000, answer: 5_000 }
/** Three instances and a person's `psql` are far below PostgreSQL's hundred. */
const mostConnections = 10

/**
 * What each connection has in common. The server gives up a statement in time, and this side gives up a server that
 * does not answer at all; a transaction that its instance has forgotten does not hold up the others.
 */
function settings(url: string): ClientConfig {
  return {
    connectionString: url,
    application_name: 'petstore',
    keepAlive: true,
    connectionTimeoutMillis: patience.connect,
    lock_timeout: patience.lock,
    statement_timeout: patience.statement,
    idle_in_transaction_session_timeout: patience.answer,
  }
}

/** Opens a connection outside the pool, for work that must stay on one. */
export async function connectClient(url: string, options: ClientConfig = {}): Promise<Client> {
  const client = new Client({ ...settings(url), query_timeout: patience.answer, ...options })
  // The next query reports a lost connection; without a listener the process would end.
  client.on('error', () => {})
  try {
    await client.connect()
    await applySessionSettings(client)
    return client
  } catch (error) {
    await client.end().catch(() => {})
    throw error
  }
}

export function openPool(url: string): Pool {
  const pool = new Pool({ ...settings(url), max: mostConnections, onConnect: applySessionSettings })
  // A connection that is lost while nobody uses it is replaced by the pool; one in use tells whoever uses it.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  giveUpInTime(pool)
  return pool
}

/**
 * Ends a connection that is kept for too long, since its server does not answer. One timer looks at all of them: those of
 * pg, for each query, take a tenth of a list's CPU.
 */
function giveUpInTime(pool: Pool): void {
  const keptSince = new Map<PoolClient, number>()
  pool.on('acquire', (client) => keptSince.set(client, performance.now()))
  pool.on('release', (_error, client) => keptSince.delete(client))
  const timer = setInterval(look, patience.answer / 10).unref()

  function look(): void {
    if (pool.ended) clearInterval(timer)
    const longest = performance.now() - patience.answer
    for (const [client, since] of keptSince) {
      if (since < longest && client instanceof Client) void client.end()
    }
  }
}

/**
 * Settings that the code relies on. A role, a database or the URL may set others, with which times cannot be read or
 * acknowledged rows are not yet on disk.
 */
const sessionSettings = {
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'iso_8601',
  TimeZone: 'UTC',
  client_encoding: 'UTF8',
  default_transaction_isolation: 'read committed',
  standard_conforming_strings: 'on',
  synchronous_commit: 'on',
}

async function applySessionSettings(client: ClientBase): Promise<void> {
  const values = Object.entries(sessionSettings).map(([name, value]) => `('${name}', '${value}')`)
  const statement = {
    // With any value of synchronous_commit but off, a commit waits for the disk.
    text: `SELECT set_config(name, value, false) FROM (VALUES ${values.join(', ')}) AS own (name, value)
      WHERE name <> 'synchronous_commit' OR current_setting(name) = 'off'`,
    query_timeout: patience.answer,
  }
  await client.query(statement)
}
