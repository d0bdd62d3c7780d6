import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { apiKeyRecord, mintApiKey } from '../../server/auth/api-key.ts'
import { Caller } from '../support/caller.ts'
import { addPets, openDatabase, openFileStore, openTestStore, startTestApi } from '../support/helpers.ts'
import { bannerKey, startServer, waitForOutput } from '../support/process.ts'
import { temporaryFolder } from '../support/temporary.ts'

/** Answers and keys are kept in memory, but only until anything in the database changes. */

test('what another process changes is in the next answer through either door', async () => {
  const { caller, database } = await startService()
  await caller.post('/v1/pets', { name: 'Rex', categoryId: 1 })
  const urls = ['/v1/pets', '/v1/pets/1', '/v1/pets?status=available&limit=100', '/trpc/pets.list']
  for (let i = 0; i < 100; i++) {
    for (const url of urls) await caller.get(url)
    database.exec(`UPDATE pets SET name = 'Rex ${i}'`)
    for (const url of urls) expect((await caller.get(url)).body).toContain(`"Rex ${i}"`)
  }
  database.exec('DELETE FROM pets')
  expect((await caller.get('/v1/pets')).body).toBe('[]')
  expect((await caller.get('/v1/pets/1')).status).toBe(404)
})

test('whoever learns of a new pet finds it at once, over any connection', async () => {
  const { caller, url, key } = await startService()
  const other = new Caller(url, key)
  for (let i = 1; i <= 50; i++) {
    const { body } = await caller.post('/v1/pets', { name: `pet ${i}`, categoryId: 1 })
    expect((await other.get('/v1/pets?limit=100')).body).toContain(body)
    expect((await caller.get(`/v1/pets/${i}`)).body).toBe(body)
  }
})

test('a key that another process revokes is refused from the next request on', async () => {
  const { caller, database } = await startService()
  expect((await caller.get('/v1/pets')).status).toBe(200)
  database.exec("UPDATE api_keys SET revoked_at = '2026-01-01T00:00:00.000Z'")
  expect((await caller.get('/v1/pets')).status).toBe(401)
})

test('a key that expires is refused, though nothing in the database changes', async () => {
  const { rest, store } = await startTestApi()
  const key = mintApiKey()
  await store.apiKeys.create(apiKeyRecord(key, 'short', 1_000))
  const authorization = `Bearer ${key}`
  expect((await rest.get('/v1/pets', { authorization })).status).toBe(200)
  await expect.poll(async () => (await rest.get('/v1/pets', { authorization })).status, { timeout: 5_000 }).toBe(401)
})

test('a query is answered from memory until the store changes', async () => {
  const { rest, store } = await startTestApi()
  const { list } = store.pets
  let asked = 0
  store.pets.list = (query) => {
    asked++
    return list(query)
  }
  await addPets(store, 1)
  for (let i = 0; i < 10; i++) expect((await rest.get('/v1/pets')).body).toHaveLength(1)
  expect(asked).toBe(1)
  await addPets(store, 1)
  expect((await rest.get('/v1/pets')).body).toHaveLength(2)
  expect(asked).toBe(2)
})

test('a store has another revision after each change, whoever makes it, and the same one otherwise', async () => {
  const path = join(temporaryFolder(), 'petstore.db')
  const store = openFileStore(path)
  const revisions = [store.revision()]
  await addPets(store, 1)
  revisions.push(store.revision())
  openDatabase(path).exec('DELETE FROM pets')
  await nextTurn()
  revisions.push(store.revision())
  expect(new Set(revisions).size).toBe(3)
  await nextTurn()
  expect(store.revision()).toBe(revisions[2])
})

test('what is read in one turn of the event loop is of one moment, and what is read in the next is new', async () => {
  const path = join(temporaryFolder(), 'petstore.db')
  const store = openFileStore(path)
  await addPets(store, 3)
  await nextTurn()
  const database = openDatabase(path)
  const before = [store.pets.get(1n)]
  database.exec('DELETE FROM pets')
  before.push(store.pets.get(2n))
  expect(await Promise.all(before)).toMatchObject([{ id: 1n }, { id: 2n }])
  await nextTurn()
  expect(await store.pets.get(3n)).toBeUndefined()
})

test('who has waited for a creation reads it, also in a turn in which was read before', async () => {
  const store = await openTestStore()
  let isDone = false
  const reading = readInEachTurn()
  for (let i = 1n; i <= 50n; i++) {
    const { id } = await store.pets.create({ name: 'Rex', categoryId: i, status: 'sold' })
    expect(await store.pets.get(id)).toMatchObject({ categoryId: i })
  }
  isDone = true
  await reading

  async function readInEachTurn(): Promise<void> {
    while (!isDone) {
      await store.pets.get(1n)
      await nextTurn()
    }
  }
})

async function startService() {
  const folder = temporaryFolder()
  const server = await startServer({ folder })
  const key = await waitForOutput(server, bannerKey)
  const database = openDatabase(join(folder, 'data/petstore.db'))
  return { caller: new Caller(server.url, key), url: server.url, key, database }
}
