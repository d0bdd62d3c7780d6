import { Client } from 'pg'
import { expect, onTestFinished, test, vi } from 'vitest'
import { postgresDatabase } from '../../../../test/support/database.ts'
import { countListening, emptyDatabase, endSessions, query } from '../../../../test/support/postgres/databases.ts'
import { apiKeyRecord, mintApiKey, revokeKey } from '../../../../test/support/product.ts'
import { startTestApi } from '../../../../test/support/test-api.ts'

const revoke = 'UPDATE api_keys SET revoked_at = now()'
const disableNotifications = 'ALTER TABLE api_keys DISABLE TRIGGER api_keys_tell_changes'

test('a key that another instance revokes is refused within a second', async () => {
  const { status, url } = await startWithCachedKey()
  const otherStore = await postgresDatabase(url).open()
  const begin = performance.now()
  await revokeKey(otherStore, 'test')
  // Each poll takes at least a millisecond and advances the clock by one. So a busy machine does not reach the two seconds.
  await expect.poll(status, { interval: 1 }).toBe(401)
  expect(performance.now() - begin).toBeLessThan(1_000)
})

test('a key that is revoked without a notification is refused after two seconds', async () => {
  const { status, url } = await startWithCachedKey()
  await query(url, disableNotifications)
  await query(url, revoke)
  vi.advanceTimersByTime(2_000)
  expect(await status()).toBe(200)
  vi.advanceTimersByTime(1)
  expect(await status()).toBe(401)
})

test('a key that is revoked while the connection for notifications is lost is refused at once', async () => {
  const { status, url, store } = await startWithCachedKey()
  await query(url, disableNotifications)
  await endSessions(url)
  await expect.poll(() => store.apiKeys.revision(), { interval: 1 }).toBe(undefined)
  // A request on a lost connection would get 503.
  await expect.poll(() => store.load().pool?.idle, { interval: 1 }).toBe(0)
  await query(url, revoke)
  expect(await status()).toBe(401)
})

test('a change of a key notifies all instances, and the use of a key does not', async () => {
  const url = await emptyDatabase()
  const { apiKeys } = await postgresDatabase(url).open()
  const { id } = await apiKeys.create(apiKeyRecord(mintApiKey(), 'test'))
  const client = new Client({ connectionString: url })
  await client.connect()
  onTestFinished(() => client.end())
  let notifications = 0
  client.on('notification', () => notifications++)
  await client.query('LISTEN api_keys')
  await apiKeys.touch(id, new Date())
  await apiKeys.revoke(id, new Date())
  // PostgreSQL delivers notifications in the order of the commits.
  await expect.poll(() => notifications).toBe(1)
})

/**
 * The first request starts to listen, and keys are only cached while the store listens. The monotonic clock stands still,
 * except that Vitest's polls advance it.
 */
async function startWithCachedKey() {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const url = await emptyDatabase()
  const { rest, store } = await startTestApi({ store: await postgresDatabase(url).open() })
  const status = async () => (await rest.get('/v1/pets')).status
  expect(await status()).toBe(200)
  await expect.poll(() => countListening(url)).toBe(1)
  await expect.poll(() => store.apiKeys.revision(), { interval: 1 }).toBeDefined()
  // The key is read again now, and cached from now on.
  vi.advanceTimersByTime(2_001)
  expect(await status()).toBe(200)
  return { url, store, status }
}
