import type { Client } from 'pg'
import { describeLocation } from '../../location.ts'
import { reasons, UnusableDatabase } from '../../unusable-database.ts'

/** One attempt is enough, unless others use the pooler at the same time, or its address has several processes. */
const attempts = 8
/** Milliseconds. A pooler without a free connection lets statements wait. */
const queryTimeout = 5_000

/**
 * Refuses a pooler that gives a connection to PostgreSQL to other sessions after each transaction or statement. Settings,
 * prepared statements and LISTEN belong to that connection.
 *
 * @param connect opens another session
 * @throws {UnusableDatabase}
 */
export async function refuseSharedConnections(
  url: string,
  client: Client,
  connect: () => Promise<Client>,
): Promise<void> {
  const own = await processOf(client)
  // A pooler gives sessions keys of its own to cancel statements. PostgreSQL's key has the number of its process.
  if ('processID' in client && client.processID === own) return
  for (let attempt = 0; attempt < attempts; attempt++) {
    const other = await connect()
    try {
      const next = await processOf(other).catch(() => undefined)
      // No connection is free. A pooler that shares them would give this session that of the client.
      if (next === undefined) return
      // Twice, because a pooler may use its connections in turn.
      const isKept = (await processOf(client)) === own && (await processOf(client)) === own
      if (next === own || !isKept)
        throw new UnusableDatabase(describeLocation({ kind: 'postgres', url }), reasons.shared)
    } finally {
      await other.end()
    }
  }
}

/** The process that executes the statements of the session. */
async function processOf(client: Client): Promise<number | undefined> {
  const statement = { text: 'SELECT pg_backend_pid() AS pid', query_timeout: queryTimeout }
  const { rows } = await client.query<{ pid: number }>(statement)
  return rows[0]?.pid
}
