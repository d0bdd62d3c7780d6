import { expect, test } from 'vitest'
import { openPool } from '../../../engine/store/postgres/connection/connection.ts'
import { inTransaction } from '../../../engine/store/postgres/transaction.ts'
import { report } from '../../../engine/test/support/long-form.ts'
import { emptyDatabase } from '../../../engine/test/support/postgres/databases.ts'
import { startProxy } from '../../../engine/test/support/postgres/proxy.ts'
import { stopService } from '../../../engine/test/support/process.ts'
import { connectRestClient } from '../../../engine/test/support/rest-client.ts'
import { mintApiKey, postgresDatabase, startServer, startTestApi } from '../../support/petstore.ts'

const rex = { name: 'Rex', categoryId: 7 }

test.for(['refuse', 'silence'] as const)(
  'a database server that cannot be reached (%s) gives a 503 until it is back',
  async (fault) => {
    const direct = await emptyDatabase()
    const proxy = await startProxy(new URL(direct))
    const { rest, log } = await startTestApi({ store: await postgresDatabase(proxy.url).open() })
    expect((await rest.post('/v1/pets', rex)).status).toBe(201)
    await proxy[fault]()
    const responses = await Promise.all([
      rest.get('/v1/pets'),
      rest.post('/v1/pets', rex, { 'idempotency-key': 'a' }),
      rest.get('/readyz'),
    ])
    for (const response of responses) expect(response).toMatchObject({ status: 503, body: { code: 'unavailable' } })
    expect((await rest.get('/livez')).status).toBe(200)
    await proxy.resume()
    const begin = performance.now()
    await expect.poll(async () => (await rest.get('/v1/pets')).status).toBe(200)
    // On a busy machine.
    expect(performance.now() - begin).toBeLessThan(30_000)
    const again = await rest.post('/v1/pets', rex, { 'idempotency-key': 'a' })
    expect(again.status).toBe(201)
    expect((await rest.get('/v1/pets')).body).toHaveLength(2)
    // Neither the password nor the values of a statement.
    expect(log.join('')).not.toMatch(/tester:tester|[0-9a-f]{64}/)
  },
)

test('SIGTERM ends the process in time while the database does not respond', async () => {
  const proxy = await startProxy(new URL(await emptyDatabase()))
  const key = mintApiKey()
  const server = await startServer({ env: { DATABASE_URL: proxy.url, PETSTORE_API_KEY: key } })
  const { get } = connectRestClient(server.url, key)
  expect((await get('/v1/pets')).status).toBe(200)
  await proxy.silence()
  // Neither by SIGKILL, nor with an error.
  await stopService(server)
})

test('an instance that is cut off inside a transaction delays the creates of others, and fails none', async () => {
  const direct = await emptyDatabase()
  const proxy = await startProxy(new URL(direct))
  const { rest } = await startTestApi({ store: await postgresDatabase(direct).open() })
  const pool = openPool(proxy.url)
  const cut = inTransaction(pool, async () => {
    await proxy.silence()
    const begin = performance.now()
    expect((await rest.post('/v1/pets', rex)).status).toBe(201)
    report('Creates after an instance was cut off', { milliseconds: Math.round(performance.now() - begin) })
  })
  await expect(cut).rejects.toThrow('Connection terminated')
  await pool.end()
})
