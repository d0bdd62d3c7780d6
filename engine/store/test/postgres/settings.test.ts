import { expect, onTestFinished, test } from 'vitest'
import { preparePostgres } from '../../../test/notes/database.ts'
import { emptyDatabase, query } from '../../../test/support/postgres/databases.ts'
import { connectClient, openPool } from '../../postgres/connection/connection.ts'
import { inTransaction } from '../../postgres/transaction.ts'

const own = {
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'iso_8601',
  TimeZone: 'UTC',
  client_encoding: 'UTF8',
  default_transaction_isolation: 'read committed',
  standard_conforming_strings: 'on',
  synchronous_commit: 'on',
  lock_timeout: '2s',
  statement_timeout: '4s',
  idle_in_transaction_session_timeout: '1500ms',
}

const unusual = {
  DateStyle: 'German',
  IntervalStyle: 'sql_standard',
  TimeZone: 'Asia/Kathmandu',
  client_encoding: 'LATIN1',
  default_transaction_isolation: 'serializable',
  standard_conforming_strings: 'off',
  synchronous_commit: 'off',
}

test('every connection has the settings that the code relies on', async () => {
  const { url } = await unusualDatabase()
  const pool = openPool(url)
  onTestFinished(() => pool.end())
  expect(await settingsOf(await pool.connect().then(released))).toEqual(own)

  const client = await connectClient(url)
  onTestFinished(() => client.end())
  expect(await settingsOf(client)).toEqual(own)

  function released<T extends { release(): void }>(connection: T): T {
    onTestFinished(() => connection.release())
    return connection
  }
})

test('statements of a collection of its own get 64-bit integers as bigint, and unreadable times as dates', async () => {
  const pool = openPool(await emptyDatabase())
  onTestFinished(() => pool.end())
  const select = "SELECT 9223372036854775807::bigint AS id, 'infinity'::timestamptz AS at"
  const row = { id: 2n ** 63n - 1n, at: new Date(Number.NaN) }
  expect((await pool.query(select)).rows).toEqual([row])
  expect(await inTransaction(pool, async (client) => (await client.query(select)).rows)).toEqual([row])
})

test('a stricter synchronous_commit of the database is kept', async () => {
  const { url } = await unusualDatabase({ synchronous_commit: 'remote_apply' })
  const client = await connectClient(url)
  onTestFinished(() => client.end())
  expect(await settingsOf(client)).toMatchObject({ synchronous_commit: 'remote_apply' })
})

/** A database of the service whose default settings differ from all that the code relies on. */
async function unusualDatabase(settings: Record<string, string> = unusual): Promise<{ url: string }> {
  const url = await emptyDatabase()
  await preparePostgres(url)
  const name = new URL(url).pathname.slice(1)
  for (const [setting, value] of Object.entries(settings))
    await query(url, `ALTER DATABASE ${name} SET ${setting} = '${value}'`)
  return { url: `${url}?options=${encodeURIComponent('-c DateStyle=SQL -c TimeZone=Asia/Tokyo')}` }
}

async function settingsOf(connection: { query(sql: string): Promise<{ rows: Record<string, string>[] }> }) {
  const names = Object.keys(own)
  const columns = names.map((name) => `current_setting('${name}') AS "${name}"`)
  const { rows } = await connection.query(`SELECT ${columns.join(', ')}`)
  return rows[0]
}

test('a time before its time zone had whole minutes is stored exactly', async () => {
  const { TZ } = process.env
  onTestFinished(() => {
    if (TZ === undefined) delete process.env.TZ
    else process.env.TZ = TZ
  })
  process.env.TZ = 'Europe/Vienna'
  const dueAt = new Date('1800-01-01T00:00:00Z')
  const pool = openPool(await emptyDatabase())
  onTestFinished(() => pool.end())
  const { rows } = await pool.query('SELECT $1::timestamptz AS one, $2::timestamptz[] AS many', [dueAt, [dueAt]])
  expect(rows).toEqual([{ one: dueAt, many: [dueAt] }])
})
