import { randomBytes } from 'node:crypto'
import { Client } from 'pg'
import { inject } from 'vitest'

/** Makes an empty database in the server that the tests share, and goes with it. */
export async function createDatabase(options = ''): Promise<string> {
  const name = `test_${randomBytes(8).toString('hex')}`
  const server = inject('postgresUrl')
  await query(server, `CREATE DATABASE ${name} TEMPLATE template0 ${options}`)
  return Object.assign(new URL(server), { pathname: `/${name}` }).href
}

/** Leaves the tables as they are made. */
export async function truncate(url: string): Promise<void> {
  await query(url, 'TRUNCATE pets, api_keys, idempotency_keys RESTART IDENTITY')
}

/** Runs a statement as a person with `psql` would. */
export async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

/** Changes the default of new sessions, as a failover does. Running sessions keep the default they started with. */
export async function setReadOnly(url: string, isReadOnly: boolean): Promise<void> {
  const name = new URL(url).pathname.slice(1)
  const server = Object.assign(new URL(url), { pathname: '/postgres' }).href
  await query(server, `ALTER DATABASE ${name} SET default_transaction_read_only = ${isReadOnly ? 'on' : 'off'}`)
  if (isReadOnly) await endSessions(url)
}

/** Terminates all connections of the service, as a restart of the server does, and returns their number. */
export async function endSessions(url: string): Promise<number> {
  const sessions = "FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'petstore'"
  return (await query(url, `SELECT pg_terminate_backend(pid) ${sessions}`)).length
}

/** The number of connections that listen for changes of API keys. */
export async function countListening(url: string): Promise<number> {
  const listening =
    "FROM pg_stat_activity WHERE datname = current_database() AND query = 'LISTEN api_keys' AND state = 'idle'"
  return (await query(url, `SELECT pid ${listening}`)).length
}
