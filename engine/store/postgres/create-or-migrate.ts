import { setTimeout as wait } from 'node:timers/promises'
import type { Client } from 'pg'
import { UnusableDatabase } from '../collection/errors.ts'
import type { Loaded } from '../database/loaded.ts'
import type { MigrateOptions } from '../database/migrations.ts'
import type { PostgresCollection } from './collection.ts'
import { connectClient } from './connection/connection.ts'
import { orUnusable, Standby, sqlStateOf, urlWithoutPassword } from './connection/failure.ts'
import { sweepHistory } from './history.ts'
import { findMissingPart, migrate } from './migrate.ts'

/** Milliseconds for a server that is starting, and for the locks of other instances that are starting. */
const startTimeout = 10_000
const startTimeouts = {
  lock_timeout: startTimeout,
  statement_timeout: 0,
  idle_in_transaction_session_timeout: startTimeout,
}
const retryInterval = 200

/** Checks the database, and creates or migrates its tables if necessary. Throws UnusableDatabase. */
export async function createOrMigrate(
  url: string,
  loaded: Loaded<PostgresCollection>,
  options: MigrateOptions = {},
): Promise<void> {
  const name = urlWithoutPassword(url)
  await orUnusable(url, async () => {
    const client = await connectWithRetries(url, loaded.program)
    try {
      // A name may contain any Unicode character.
      const { rows } = await client.query<{ encoding: string }>("SELECT current_setting('server_encoding') AS encoding")
      const encoding = rows[0]?.encoding
      const reason = `its encoding is ${encoding}: make another one with CREATE DATABASE … ENCODING 'UTF8'`
      if (encoding !== 'UTF8') throw new UnusableDatabase(name, reason)
      await migrate(client, loaded, { ...options, name }, async () => {
        const missing = await findMissingPart(client, loaded.collections)
        if (missing !== undefined) throw new UnusableDatabase(name, missing)
      })
      // A service that can only read must start, too.
      if (options.migrate ?? true) await sweepHistory(client, options.historyDays).catch(() => {})
    } finally {
      await client.end()
    }
  })
}

async function connectWithRetries(url: string, program: string): Promise<Client> {
  for (const deadline = performance.now() + startTimeout; ; await wait(retryInterval)) {
    try {
      return await connectClient(url, { application_name: program, query_timeout: 0 }, startTimeouts)
    } catch (error) {
      // The server is starting or stopping, has too many connections at the moment, or is about to be promoted.
      const isTemporary = error instanceof Standby || /^(57P03|57P01|53300)$/.test(sqlStateOf(error))
      if (!isTemporary || performance.now() >= deadline) throw error
    }
  }
}
