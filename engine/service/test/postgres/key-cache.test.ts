import { expect, onTestFinished, test, vi } from 'vitest'
import { postgresDatabase } from '../../../test/notes/database.ts'
import { revokeKey, startTestApi } from '../../../test/notes/fixtures.ts'
import { emptyDatabase, query } from '../../../test/support/postgres/databases.ts'

const revoke = 'UPDATE api_keys SET revoked_at = now()'

test('a key that its own instance revokes is refused at once', async () => {
  const { status, store } = await startWithCachedKey()
  await revokeKey(store, 'test')
  expect(await status()).toBe(401)
})

test('a key that another instance revokes is refused after a second', async () => {
  const { status, url } = await startWithCachedKey()
  await query(url, revoke)
  vi.advanceTimersByTime(1_000)
  expect(await status()).toBe(200)
  vi.advanceTimersByTime(1)
  expect(await status()).toBe(401)
})

/** The monotonic clock stands still. */
async function startWithCachedKey() {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const url = await emptyDatabase()
  const { rest, store } = await startTestApi({ store: await postgresDatabase(url).open() })
  const touch = vi.spyOn(store.apiKeys, 'touch')
  const status = async () => (await rest.get('/v1/notes')).status
  expect(await status()).toBe(200)
  // The note of the first use is a change by this instance, after which the key is read again. expect.poll moves the clock.
  await touch.mock.results[0]?.value
  expect(await status()).toBe(200)
  return { url, store, status }
}
