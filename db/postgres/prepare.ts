import { setTimeout as wait } from 'node:timers/promises'
import { drizzle } from 'drizzle-orm/node-postgres'
import { type Client, DatabaseError } from 'pg'
import { describeLocation } from '../location.ts'
import type { PrepareOptions } from '../migrations.ts'
import type { Loaded } from '../resource.ts'
import { incomplete, UnusableDatabase } from '../unusable-database.ts'
import { connectClient } from './connection/connection.ts'
import { Standby, unusable } from './connection/failure.ts'
import { findMissingPart, migrate } from './migrate.ts'
import type { PostgresResource } from './resource.ts'

/** Milliseconds for a server that is starting, and for the locks of other instances that are starting. */
const startTimeout = 10_000
const retryInterval = 200

/**
 * Checks the database, and creates or migrates its tables if necessary.
 *
 * @throws {UnusableDatabase}
 */
export async function prepareDatabase(
  url: string,
  { migrations, resources }: Loaded<PostgresResource>,
  options: PrepareOptions = {},
): Promise<void> {
  const name = describeLocation({ kind: 'postgres', url })
  try {
    const client = await connectWithRetries(url)
    try {
      await refuseOtherEncoding(client, name)
      await migrate(client, migrations, { ...options, name })
      const missing = await findMissingPart(drizzle({ client }), resources)
      if (missing !== undefined) throw new UnusableDatabase(name, incomplete(missing))
    } finally {
      await client.end()
    }
  } catch (error) {
    throw unusable(url, error)
  }
}

async function connectWithRetries(url: string): Promise<Client> {
  for (const deadline = performance.now() + startTimeout; ; await wait(retryInterval)) {
    try {
      return await connectClient(url, {
        lock_timeout: startTimeout,
        idle_in_transaction_session_timeout: startTimeout,
        statement_timeout: 0,
        query_timeout: 0,
      })
    } catch (error) {
      if (!isStarting(error) || performance.now() >= deadline) throw error
    }
  }
}

/** The server is starting or stopping, has too many connections at the moment, or is about to be promoted. */
function isStarting(error: unknown): boolean {
  if (error instanceof Standby) return true
  return error instanceof DatabaseError && /^(57P03|57P01|53300)$/.test(error.code ?? '')
}

/** A name may contain any Unicode character. */
async function refuseOtherEncoding(client: Client, name: string): Promise<void> {
  const { rows } = await client.query<{ encoding: string }>("SELECT current_setting('server_encoding') AS encoding")
  const encoding = rows[0]?.encoding
  if (encoding !== 'UTF8')
    throw new UnusableDatabase(
      name,
      `its encoding is ${encoding}: make another one with CREATE DATABASE … ENCODING 'UTF8'`,
    )
}
