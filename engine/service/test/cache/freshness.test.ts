import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openFileStore } from '../../../test/notes/database.ts'
import { addNotes, apiKeyRecord, mintApiKey, startTestApi } from '../../../test/notes/fixtures.ts'
import { openDatabase } from '../../../test/support/database.ts'
import { temporaryFolder } from '../../../test/support/temporary.ts'

/** Responses and API keys are cached, but only until a commit changes the database. */

test('the next response, over REST and RPC, contains a change that another connection commits', async () => {
  const { rest, rpc, database } = await startOnFile()
  await rest.post('/v1/notes', { body: 'Ann', priority: 1 })
  const urls = ['/v1/notes', '/v1/notes/1', '/v1/notes?state=open&limit=100']
  const responses = async () => [
    ...(await Promise.all(urls.map(async (url) => (await rest.get(url)).text))),
    JSON.stringify((await rpc.notes.list.query({})).map(({ body }) => body)),
  ]
  for (let i = 0; i < 20; i++) {
    await responses()
    database.exec(`UPDATE notes SET body = 'Ann ${i}'`)
    for (const text of await responses()) expect(text).toContain(`"Ann ${i}"`)
  }
  database.exec('DELETE FROM notes')
  expect((await rest.get('/v1/notes')).body).toEqual([])
  expect((await rest.get('/v1/notes/1')).status).toBe(404)
})

test('a cached key is refused once it expires, although nothing in the database changes', async () => {
  const { rest, store } = await startTestApi()
  const key = mintApiKey()
  await store.apiKeys.create(apiKeyRecord(key, 'short', 60_000))
  const authorization = `Bearer ${key}`
  expect((await rest.get('/v1/notes', { authorization })).status).toBe(200)
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 })
  onTestFinished(() => void vi.useRealTimers())
  expect((await rest.get('/v1/notes', { authorization })).status).toBe(401)
})

/** The service on a file, and a second connection to the file, as another process would have it. */
async function startOnFile() {
  const path = join(temporaryFolder(), 'notes.db')
  const api = await startTestApi({ store: openFileStore(path) })
  return { ...api, database: openDatabase(path) }
}

test('requests that arrive together are read in one snapshot', async () => {
  const { rest, store } = await startTestApi()
  await addNotes(store, 1)
  const snapshots = vi.spyOn(store, 'inOneSnapshot')
  const responses = await Promise.all(Array.from({ length: 64 }, () => rest.get('/v1/notes/1')))
  expect(new Set(responses.map(({ text }) => text)).size).toBe(1)
  expect(snapshots.mock.calls.length).toBeGreaterThan(0)
})
