import { setTimeout as wait } from 'node:timers/promises'
import { type Client, DatabaseError } from 'pg'
import { describeLocation } from '../location.ts'
import { UnusableDatabase } from '../store.ts'
import { newClient } from './connection.ts'
import { causeOf } from './failure.ts'
import { migrate, readOwnMigrations } from './migrate.ts'

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
  try {
    const client = await connectPatiently(url)
    try {
      await refuseOtherEncoding(client)
      return await migrate(client, readOwnMigrations(), { create })
    } finally {
      await client.end()
    }
  } catch (error) {
    const name = describeLocation({ kind: 'postgres', url })
    throw new UnusableDatabase(`The database ${name} cannot be used: ${reason(causeOf(error))}.`, { cause: error })
  }
}

async function connectPatiently(url: string): Promise<Client> {
  for (const deadline = performance.now() + patience; ; await wait(pause)) {
    const client = newClient(url, { lock_timeout: patience, statement_timeout: 0, query_timeout: 0 })
    try {
      await client.connect()
      return client
    } catch (error) {
      await client.end().catch(() => {})
      if (!isComingUp(error) || performance.now() >= deadline) throw error
    }
  }
}

/** The server says that it starts, stops, or has too many connections at the moment. */
function isComingUp(error: unknown): boolean {
  return error instanceof DatabaseError && /^(57P03|57P01|53300)$/.test(error.code ?? '')
}

/** Names are any Unicode text. */
async function refuseOtherEncoding(client: Client): Promise<void> {
  const { rows } = await client.query<{ encoding: string }>("SELECT current_setting('server_encoding') AS encoding")
  const encoding = rows[0]?.encoding
  if (encoding !== 'UTF8')
    throw new UnusableDatabase(`its encoding is ${encoding}: make another one with CREATE DATABASE … ENCODING 'UTF8'`)
}

function reason(error: unknown): string {
  if (error instanceof UnusableDatabase) return error.message
  if (!(error instanceof Error)) throw error
  switch ('code' in error ? error.code : undefined) {
    case 'ECONNREFUSED':
      return 'nothing listens there; start PostgreSQL, or correct DATABASE_URL'
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'its host is not known; correct DATABASE_URL'
    case '28P01':
    case '28000':
      return `${error.message}; correct DATABASE_URL, or let this user in`
    case '3D000':
      return `${error.message}; make it with CREATE DATABASE, or correct DATABASE_URL`
    case '42501':
      return `${error.message}; GRANT this user the right to create tables in its schema`
    case '42P07':
      return 'it has tables of another program; name an empty database in DATABASE_URL'
    case '55P03':
      return 'another instance holds its lock; stop that instance or try again'
    default:
      return `${error.message || String(error)}; check PostgreSQL and DATABASE_URL`
  }
}
