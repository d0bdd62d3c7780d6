import { randomBytes } from 'node:crypto'
import { Client } from 'pg'
import { inject, onTestFinished } from 'vitest'

declare module 'vitest' {
  interface ProvidedContext {
    /** The URL of the server that the tests share. Provided only to projects on PostgreSQL. */
    postgresUrl: string
  }
}

/** Empty databases of tests that have ended. Creating a database costs several times the CPU time of emptying one. */
const emptied: string[] = []

/** Returns the URL of an empty database in the server that the tests share. When the test ends, it is emptied for another test. */
export async function emptyDatabase(): Promise<string> {
  const url = emptied.pop() ?? (await createDatabase())
  onTestFinished(async () => {
    await dropTables(url)
    emptied.push(url)
  })
  return url
}

/** Creates a database in the server that the tests share. */
export async function createDatabase(options = ''): Promise<string> {
  const name = `test_${randomBytes(8).toString('hex')}`
  const server = inject('postgresUrl')
  await query(server, `CREATE DATABASE ${name} TEMPLATE template0 STRATEGY file_copy ${options}`)
  return Object.assign(new URL(server), { pathname: `/${name}` }).href
}

/** Drops a database of {@link createDatabase}, and ends its sessions. */
export async function dropDatabase(url: string): Promise<void> {
  await query(inject('postgresUrl'), `DROP DATABASE ${new URL(url).pathname.slice(1)} WITH (FORCE)`)
}

/**
 * Creates a role without special rights, whose password is "tester", and returns its name and the URL with it. When the test
 * ends, the role is dropped with its rights; what it owns goes to the role "tester".
 */
export async function createRole(url: string, options = ''): Promise<{ role: string; url: string }> {
  const role = `role_${randomBytes(8).toString('hex')}`
  await query(url, `CREATE ROLE ${role} LOGIN PASSWORD 'tester' ${options}`)
  onTestFinished(async () => {
    await query(url, `REASSIGN OWNED BY ${role} TO tester; DROP OWNED BY ${role}; DROP ROLE ${role}`)
  })
  return { role, url: Object.assign(new URL(url), { username: role, password: 'tester' }).href }
}

/** Ends all other sessions, and removes everything that a test may have changed in the database. */
async function dropTables(url: string): Promise<void> {
  const name = new URL(url).pathname.slice(1)
  await query(
    url,
    `BEGIN READ WRITE;
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}' AND pid <> pg_backend_pid();
    ALTER DATABASE ${name} RESET ALL;
    ALTER DATABASE ${name} CONNECTION LIMIT -1;
    ALTER DATABASE ${name} OWNER TO tester;
    DROP SCHEMA public CASCADE;
    CREATE SCHEMA public AUTHORIZATION pg_database_owner;
    GRANT USAGE ON SCHEMA public TO PUBLIC;
    COMMIT`,
  )
}

/** Connects without the service, until the test ends. */
export async function connectTo(url: string): Promise<Client> {
  const client = new Client({ connectionString: url })
  await client.connect()
  onTestFinished(() => client.end())
  return client
}

/** Locks a table against all other sessions until it is released. */
export async function lockTable(url: string, table: string): Promise<() => Promise<void>> {
  const other = await connectTo(url)
  await other.query(`BEGIN; LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`)
  return async () => void (await other.query('ROLLBACK'))
}

/** Runs a statement as `psql` does, without the service. */
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

/** Terminates all connections of the service, as a restart of the server does, waits for their ends, and returns their number. */
export async function endSessions(url: string): Promise<number> {
  const sessions = "FROM pg_stat_activity WHERE datname = current_database() AND application_name <> ''"
  return (await query(url, `SELECT pg_terminate_backend(pid, 1000) ${sessions}`)).length
}

/** The number of connections that wait for a lock. */
export async function countWaiting(url: string): Promise<number> {
  const waiting = "FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
  return (await query(url, `SELECT pid ${waiting}`)).length
}
