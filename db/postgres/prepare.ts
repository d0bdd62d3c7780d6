import { setTimeout as wait } from 'node:timers/promises'
import { type Client, DatabaseError } from 'pg'
import { describeLocation } from '../location.ts'
import { UnusableDatabase } from '../unusable-database.ts'
import { connectClient } from './connection.ts'
import { migrate, readOwnMigrations } from './migrate.ts'
import { unusable } from './unusable.ts'

/** Milliseconds in which a server may come up, and a crowd of instances that start at once take their turns. */
const patience = 10_000
const pause = 200

/**
 * Checks the database and brings its schema up to date.
 *
 * @param create whether a database without our tables is given them; else it is refused.
 * @returns whether it was.
 * @throws {UnusableDatabase} with one sentence for the operator.
 */
export async function prepareDatabase(url: string, { create = true } = {}): Promise<boolean> {
  const name = describeLocation({ kind: 'postgres', url })
  try {
    const client = await connectPatiently(url)
    try {
      await refuseOtherEncoding(client, name)
      return await migrate(client, readOwnMigrations(), { name, create })
    } finally {
      await client.end()
    }
  } catch (error) {
    throw unusable(url, error)
  }
}

async function connectPatiently(url: string): Promise<Client> {
  for (const deadline = performance.now() + patience; ; await wait(pause)) {
    try {
      return await connectClient(url, { lock_timeout: patience, statement_timeout: 0, query_timeout: 0 })
    } catch (error) {
      if (!isComingUp(error) || performance.now() >= deadline) throw error
    }
  }
}

/** The server says that it starts, stops, or has too many connections at the moment. */
function isComingUp(error: unknown): boolean {
  return error instanceof DatabaseError && /^(57P03|57P01|53300)$/.test(error.code ?? '')
}

/** Names are any Unicode text. */
async function refuseOtherEncoding(client: Client, name: string): Promise<void> {
  const { rows } = await client.query<{ encoding: string }>("SELECT current_setting('server_encoding') AS encoding")
  const encoding = rows[0]?.encoding
  if (encoding !== 'UTF8')
    throw new UnusableDatabase(
      name,
      `its encoding is ${encoding}: make another one with CREATE DATABASE … ENCODING 'UTF8'`,
    )
}
