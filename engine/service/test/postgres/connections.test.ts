import { expect, onTestFinished, test } from 'vitest'
import { connectClient } from '../../../store/postgres/connection/connection.ts'
import { mintApiKey, startServer } from '../../../test/notes/fixtures.ts'
import { emptyDatabase, query } from '../../../test/support/postgres/databases.ts'

test('the service opens at most DATABASE_CONNECTIONS connections', async () => {
  const url = await emptyDatabase()
  const key = mintApiKey()
  const server = await startServer({ env: { DATABASE_URL: url, DATABASE_CONNECTIONS: '2', NOTES_API_KEY: key } })
  const get = (path: string) => fetch(`${server.url}${path}`, { headers: { authorization: `Bearer ${key}` } })
  await get('/v1/notes')
  const client = await connectClient(url, { application_name: 'test' })
  onTestFinished(() => client.end())
  await client.query('BEGIN; LOCK TABLE notes IN ACCESS EXCLUSIVE MODE')
  const reads = Promise.all(['', '?state=done', '/1'].map((path) => get(`/v1/notes${path}`)))
  await expect.poll(() => countConnections(url)).toBe(2)
  await client.query('ROLLBACK')
  expect((await reads).map(({ status }) => status)).toEqual([200, 200, 404])
  expect(await countConnections(url)).toBe(2)
})

async function countConnections(url: string): Promise<number> {
  const own = "FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'notes'"
  return (await query(url, `SELECT pid ${own}`)).length
}
