import { describe, expect, onTestFinished, test } from 'vitest'
import { onPostgres } from '../../../test/notes/database.ts'
import { freePort } from '../../../test/support/free-port.ts'
import { createRole, emptyDatabase, query } from '../../../test/support/postgres/databases.ts'
import { StoreUnavailable } from '../../collection/errors.ts'
import { openPool } from '../../postgres/connection/connection.ts'
import { failuresOf } from '../../postgres/connection/failure.ts'
import { tablesOf } from '../../postgres/table.ts'

const failures = failuresOf(tablesOf(onPostgres.collections))

describe('while the service runs, the operator reads what to do about', () => {
  const raise = (condition: string, message: string) =>
    `DO $$ BEGIN RAISE ${condition} USING MESSAGE = '${message}'; END $$`

  test.for<[sql: string, message: RegExp]>([
    [
      'SET transaction_read_only = on; CREATE TABLE t (x int)',
      /cannot execute CREATE TABLE in a read-only transaction; wait until the server accepts writes, .* \(25006\)\.$/,
    ],
    [
      "SET statement_timeout = '50ms'; SELECT pg_sleep(10)",
      /canceling statement due to statement timeout; look for slow queries and locks in pg_stat_activity \(57014\)\.$/,
    ],
    ['SELECT * FROM notes', /relation "notes" does not exist; put it back, or name another database \(42P01\)\.$/],
    [
      raise('insufficient_privilege', 'permission denied'),
      /permission denied; GRANT this user the right to create and use tables in its schema \(42501\)\.$/,
    ],
    [raise('disk_full', 'could not extend file'), /the disk is full; free some space \(53100\)\.$/],
    [
      "SELECT 'secret-value'::int",
      /it refused a value that this release accepts; look for changed columns and triggers \(22P02\)\.$/,
    ],
  ])('what fails: %s', async ([sql, message]) => expectMessage(await emptyDatabase(), message, sql))

  test.for<[what: string, breakDatabase: (url: string) => Promise<string>, message: RegExp]>([
    [
      'a server that is stopped',
      async (url) => changed(url, { port: String(await freePort()) }),
      /nothing listens there; start PostgreSQL, or correct the address \(ECONNREFUSED\)\.$/,
    ],
    [
      'a wrong password',
      async (url) => changed(url, { password: 'secret-password' }),
      /password authentication failed for user "tester"; correct the address, .* \(28P01\)\.$/,
    ],
    [
      'too many connections',
      async (url) => {
        await query(url, `ALTER DATABASE ${new URL(url).pathname.slice(1)} CONNECTION LIMIT 0`)
        return (await createRole(url)).url
      },
      /too many connections for database .*; raise max_connections of PostgreSQL, or lower DATABASE_CONNECTIONS \(53300\)\.$/,
    ],
    [
      'a server without TLS',
      async (url) => `${url}?sslmode=require`,
      /it does not offer TLS; turn on ssl in PostgreSQL, or change sslmode in the address\.$/,
    ],
  ])('%s', async ([, breakDatabase, message]) => expectMessage(await breakDatabase(await emptyDatabase()), message))

  async function expectMessage(url: string, message: RegExp, sql = 'SELECT 1'): Promise<void> {
    const pool = openPool(url)
    onTestFinished(() => pool.end())
    const error: unknown = await pool.query(sql).catch((thrown) => failures.storeError(thrown))
    expect(error).toBeInstanceOf(StoreUnavailable)
    expect(error).toMatchObject({ message: expect.stringMatching(/^The database cannot be used: [^;]+; [^;]+\.$/) })
    expect(error).toMatchObject({ message: expect.stringMatching(message) })
    const { stack = '', cause } = error as Error
    expect(`${stack} ${cause instanceof Error ? cause.stack : ''}`).not.toMatch(/secret-(password|value)/)
  }

  test.for([
    ['SELF_SIGNED_CERT_IN_CHAIN', 'name the authority of its certificate with sslrootcert in the address'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'name the authority of its certificate with sslrootcert in the address'],
    ['CERT_HAS_EXPIRED', 'renew the certificate of PostgreSQL, or correct the host in the address'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'renew the certificate of PostgreSQL, or correct the host in the address'],
    ['ETIMEDOUT', 'check PostgreSQL and the network'],
    ['57P03', 'wait until PostgreSQL has started, or start it'],
    ['53200', 'check PostgreSQL and the address'],
  ] as const)('%s', ([code, remedy]) => {
    const error = Object.assign(new Error('why'), { code })
    expect(failures.storeError(error).message).toBe(`The database cannot be used: why; ${remedy} (${code}).`)
  })

  test.for([
    [
      'timeout exceeded when trying to connect',
      'no connection became free in time; look for slow queries in pg_stat_activity, or raise DATABASE_CONNECTIONS',
    ],
    ['Query read timeout', 'it does not respond in time; check PostgreSQL and the network'],
    ['Connection terminated unexpectedly', 'the connection was lost; check PostgreSQL and the network'],
  ] as const)('the error of the driver without a code: %s', ([message, reason]) => {
    expect(failures.storeError(new Error(message)).message).toBe(`The database cannot be used: ${reason}.`)
  })
})

function changed(url: string, change: Partial<URL>): string {
  return Object.assign(new URL(url), change).href
}
