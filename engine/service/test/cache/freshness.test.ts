import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import {
  addNotes,
  apiKeyRecord,
  mintApiKey,
  openFileStore,
  openTestStore,
  startTestApi,
} from '../../../test/notes/fixtures.ts'
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

test('a repeated query is served from the cache, or is 304, without a read until the store changes', async () => {
  const { rest, store } = await startTestApi()
  const { list } = store.notes
  let calls = 0
  store.notes.list = (query) => {
    calls++
    return list(query)
  }
  await addNotes(store, 1)
  for (let i = 0; i < 10; i++) expect((await rest.get('/v1/notes')).body).toHaveLength(1)
  for (let i = 0; i < 10; i++) expect((await rest.get('/v1/notes', { 'if-none-match': '*' })).status).toBe(304)
  expect(calls).toBe(2)
  await addNotes(store, 1)
  expect((await rest.get('/v1/notes')).body).toHaveLength(2)
  expect(calls).toBe(3)
})

test('a read that begins after a create resolved finds the note, while other reads run in every turn of the event loop', async () => {
  const store = await openTestStore()
  let isDone = false
  const reading = readInEachTurn()
  for (let i = 1n; i <= 50n; i++) {
    const { id } = await store.notes.create({ body: 'Ann', priority: i, state: 'done' })
    expect(await store.notes.get(id)).toMatchObject({ priority: i })
  }
  isDone = true
  await reading

  async function readInEachTurn(): Promise<void> {
    while (!isDone) {
      await store.notes.get(1n)
      await nextTurn()
    }
  }
})

/** The service on a file, and a second connection to the file, as another process would have it. */
async function startOnFile() {
  const path = join(temporaryFolder(), 'notes.db')
  const api = await startTestApi({ store: openFileStore(path) })
  return { ...api, database: openDatabase(path) }
}

test('reads in one snapshot see no commit meanwhile, also after one that fails, and the next read sees it', async () => {
  const path = join(temporaryFolder(), 'notes.db')
  const store = openFileStore(path)
  await addNotes(store, 1)
  const database = openDatabase(path)
  const priorityNow = () => store.notes.get(1n).then((note) => note?.priority)
  const reads: Promise<unknown>[] = []
  store.inOneSnapshot(() => {
    reads.push(priorityNow())
    database.exec('UPDATE notes SET priority = 8')
    reads.push(priorityNow())
  })
  reads.push(priorityNow())
  database.exec('ALTER TABLE notes RENAME TO hidden')
  store.inOneSnapshot(() => void reads.push(priorityNow().catch(() => 'failed')))
  database.exec('ALTER TABLE hidden RENAME TO notes; UPDATE notes SET priority = 9')
  reads.push(priorityNow())
  expect(await Promise.all(reads)).toEqual([1n, 1n, 8n, 'failed', 9n])
})

test('requests that arrive together are read in one snapshot', async () => {
  const { rest, store } = await startTestApi()
  await addNotes(store, 1)
  const snapshots = vi.spyOn(store, 'inOneSnapshot')
  const responses = await Promise.all(Array.from({ length: 64 }, () => rest.get('/v1/notes/1')))
  expect(new Set(responses.map(({ text }) => text)).size).toBe(1)
  expect(snapshots.mock.calls.length).toBeGreaterThan(0)
})
