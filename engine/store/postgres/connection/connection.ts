import { Client, type ClientBase, type ClientConfig, defaults, Pool, type PoolClient, types } from 'pg'
import { reasons, UnusableDatabase } from '../../collection/errors.ts'
import { isConnectionError, Standby, urlWithoutPassword } from './failure.ts'

/** Timeouts in milliseconds. The caller has received an error by then, so a later result would be useless. */
const timeouts = { connect: 2_000, response: 5_000, end: 500 }

/**
 * The server cancels statements and idle transactions in time. This side gives up a server that does not respond. A statement
 * sets these timeouts, because PgBouncer refuses them when a session starts.
 */
const serverTimeouts = {
  lock_timeout: 2_000,
  statement_timeout: 4_000,
  // Less than lock_timeout: other instances wait for the locks of one that was cut off, and then go on.
  idle_in_transaction_session_timeout: 1_500,
}

// Otherwise the driver writes a time in the time zone of the process, whose offset had seconds before it was standardized.
defaults.parseInputDatesAsUTC = true

function settings(url: string): ClientConfig {
  return { connectionString: url, keepAlive: true, connectionTimeoutMillis: timeouts.connect }
}

/** Opens a connection outside a pool. Refuses a pooler that shares connections between sessions, and a {@link Standby}. */
export async function connectClient(
  url: string,
  config: ClientConfig = {},
  timeouts: Partial<typeof serverTimeouts> = {},
): Promise<Client> {
  const client = await connect(url, config)
  return orEnd(client, async () => {
    // Before the settings, which a shared connection would keep for other sessions.
    await refuseSharedConnections(url, client, () => connect(url, config))
    await applySessionSettings(client, url, { ...serverTimeouts, ...timeouts })
    return client
  })
}

async function connect(url: string, config: ClientConfig): Promise<Client> {
  const client = new Client({ ...settings(url), query_timeout: timeouts.response, ...config })
  // The next query reports a lost connection. Without a listener the process would end.
  client.on('error', () => {})
  return orEnd(client, async () => {
    await client.connect()
    limitEnd(client)
    return client
  })
}

/** A server that does not respond would keep an ended connection, and so the process, open. */
function limitEnd({ connection: { stream } }: Client): void {
  stream.once('finish', () => setTimeout(() => stream.destroy(), timeouts.end).unref())
}

/** Ends the connection if `prepare` fails, because the caller then has nothing to end. */
export async function orEnd<T>(client: Client, prepare: () => Promise<T>): Promise<T> {
  try {
    return await prepare()
  } catch (error) {
    await client.end().catch(() => {})
    throw error
  }
}

/** One attempt is enough, unless others use the pooler at the same time, or its address has several processes. */
const poolerAttempts = 8
/** Milliseconds. A pooler without a free connection lets statements wait. */
const poolerTimeout = 5_000

/** Refuses a pooler that shares a connection to PostgreSQL, to which settings and prepared statements belong. */
async function refuseSharedConnections(url: string, client: Client, connect: () => Promise<Client>): Promise<void> {
  const processId = await processOf(client)
  // A pooler gives sessions keys of its own to cancel statements. PostgreSQL's key has the number of its process.
  if ('processID' in client && client.processID === processId) return
  for (let attempt = 0; attempt < poolerAttempts; attempt++) {
    const other = await connect()
    try {
      const next = await processOf(other).catch(() => undefined)
      // No connection is free. A pooler that shares them would give this session that of the client.
      if (next === undefined) return
      // Twice, because a pooler may use its connections in turn.
      const isKept = (await processOf(client)) === processId && (await processOf(client)) === processId
      if (next === processId || !isKept) throw new UnusableDatabase(urlWithoutPassword(url), reasons.shared)
    } finally {
      await other.end()
    }
  }
}

/** The process that executes the statements of the session. */
async function processOf(client: Client): Promise<number | undefined> {
  const statement = { text: 'SELECT pg_backend_pid() AS pid', query_timeout: poolerTimeout }
  const { rows } = await client.query<{ pid: number }>(statement)
  return rows[0]?.pid
}

/**
 * Seconds. A connection that only reads would never notice that its server is an old primary, which became read-only in a
 * failover: writes use another connection, and leave that server at once.
 */
const maxLifetime = 30

/**
 * Opens a pool. It drops a connection whose statement has failed, also because the server has become read-only, so the next
 * one reaches the server to which the address leads then.
 *
 * @param maxConnections pg's default of 10 if undefined
 * @param onError called when a connection is lost or cannot be opened
 */
export function openPool(url: string, maxConnections?: number, onError = () => {}, program?: string): Pool {
  const pool = new Pool({
    ...settings(url),
    application_name: program,
    max: maxConnections,
    maxLifetimeSeconds: maxLifetime,
    types: { getTypeParser },
    async onConnect(client) {
      if (client instanceof Client) limitEnd(client)
      try {
        await applySessionSettings(client, url, { ...serverTimeouts, ...planSettings })
      } catch (error) {
        onError()
        throw error
      }
    },
    // The pool reports a failed attempt to connect only here and to its caller.
    log: (message) => {
      if (message === 'client failed to connect') onError()
    },
  })
  // The pool replaces an idle connection that is lost. The query reports the loss of one in use.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', onError))
  pool.on('release', (error) => {
    if (isConnectionError(error)) onError()
  })
  closeUnresponsive(pool)
  return pool
}

/** By default, the driver returns 64-bit integers as text, and the time `infinity` as a number. */
function getTypeParser(type: number): (text: string) => unknown {
  const parse = types.getTypeParser(type)
  if (type === types.builtins.INT8) return BigInt
  return type === types.builtins.TIMESTAMPTZ ? (text) => new Date(parse(text)) : parse
}

/**
 * Closes a connection that is in use for too long, mostly because its server does not respond. One timer checks all connections:
 * pg's own timer for each query takes a tenth of a list's CPU time.
 */
function closeUnresponsive(pool: Pool): void {
  const usedSince = new Map<PoolClient, number>()
  pool.on('acquire', (client) => usedSince.set(client, performance.now()))
  pool.on('release', (_error, client) => usedSince.delete(client))
  const timer = setInterval(() => {
    if (pool.ended) clearInterval(timer)
    const oldest = performance.now() - timeouts.response
    for (const [client, since] of usedSince) {
      if (since < oldest && client instanceof Client) void client.end()
    }
  }, timeouts.response / 10).unref()
}

/** With the settings of a role, a database or a URL, times may be unreadable, or an acknowledged row not on disk yet. */
const sessionSettings = {
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'iso_8601',
  TimeZone: 'UTC',
  client_encoding: 'UTF8',
  default_transaction_isolation: 'read committed',
  standard_conforming_strings: 'on',
  synchronous_commit: 'on',
}

/**
 * Each connection plans the statements of requests once, also while the tables are small. With these settings they use
 * indexes in any case, so that they stay fast when the tables grow. The planner expects far more rows from lists than they
 * return, so it would also compile their plans (JIT).
 */
const planSettings = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  // Without statistics, a list or a count would use another index that begins with its filter, and sort.
  enable_sort: 'off',
  enable_incremental_sort: 'off',
  jit: 'off',
}

async function applySessionSettings(client: ClientBase, url: string, further: object): Promise<void> {
  const values = Object.entries({ ...sessionSettings, ...further })
    // The URL may set timeouts, which the driver sends when the session starts.
    .filter(([name]) => !(name in serverTimeouts && new RegExp(`[?&]${name}=`).test(url)))
    .map(([name, value]) => `('${name}', '${value}')`)
  const statement = {
    // A commit waits for the disk with any value of synchronous_commit except off.
    text: `SELECT set_config(name, value, false), pg_is_in_recovery() AS "isStandby" FROM (VALUES ${values.join(', ')}) AS settings (name, value)
      WHERE name <> 'synchronous_commit' OR current_setting(name) = 'off'`,
    query_timeout: timeouts.response,
  }
  const { rows } = await client.query<{ isStandby: boolean }>(statement)
  // An address leads to one for a moment during a failover.
  if (rows[0]?.isStandby) throw new Standby()
}
