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
