import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openFileStore } from '../../../test/notes/database.ts'
import { revokeKey, rotateKey, startTestApi } from '../../../test/notes/fixtures.ts'
import { openDatabase } from '../../../test/support/database.ts'
import { temporaryFolder } from '../../../test/support/temporary.ts'
import { describeKeys, listKeys } from '../../commands/keys.ts'

test.for(['created_at', 'expires_at', 'revoked_at'])('a key with an unreadable %s is refused', async (column) => {
  const { rest, rpc, store, spoil } = await startOnFile()
  expect((await rest.get('/v1/notes')).status).toBe(200)
  spoil(`UPDATE api_keys SET ${column} = 'yesterday'`)
  const response = await rest.get('/v1/notes')
  expect(response).toMatchObject({ status: 401, body: { code: 'unauthorized' } })
  expect(response.headers['www-authenticate']).toContain('invalid_token')
  await expect(rpc.notes.list.query()).rejects.toMatchObject({ data: { status: 401 } })
  expect(await describeKeys(await listKeys(store))).toContain(' unreadable')
})

test('the next use replaces an unreadable time of the last use', async () => {
  const { rest, store, spoil } = await startOnFile()
  spoil("UPDATE api_keys SET last_used_at = 'yesterday'")
  expect((await rest.get('/v1/notes')).status).toBe(200)
  await expect
    .poll(async () => (await store.apiKeys.list())[0]?.lastUsedAt?.getTime())
    .toBeGreaterThan(Date.now() - 60_000)
})

test.for(['yesterday', '1970-01-01T00:00:00.000Z'])(
  'a key that expires at %j is rotated only with --expires',
  async (time) => {
    const { store, spoil } = await startOnFile()
    spoil(`UPDATE api_keys SET expires_at = '${time}'`)
    await expect(rotateKey(store, 'test')).rejects.toThrow(/^The lifetime of the API key test .+ --expires/)
    expect(await describeKeys(await listKeys(store))).toMatch(/ -$/)
    await rotateKey(store, 'test', 60_000)
    await revokeKey(store, 'test')
  },
)

/** Statements run without the constraints of the schema. */
async function startOnFile() {
  const path = join(temporaryFolder(), 'notes.db')
  const api = await startTestApi({ store: openFileStore(path) })
  const file = openDatabase(path)
  file.pragma('ignore_check_constraints = ON')
  return { ...api, spoil: (sql: string) => file.exec(sql) }
}
