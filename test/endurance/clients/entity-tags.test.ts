import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createKey, startTestApi, type TestApi, type TestDatabase, testDatabase } from '../../support/petstore.ts'

/**
 * Instances behind a load balancer, of which one has another database, as after a restore or a failover. A database is
 * also changed without the service.
 */
const places = [0, 1, 2] as const
const place = fc.constantFrom(...places)
const step = fc.record({
  action: fc.constantFrom('create', 'create', 'delete', 'empty', 'restart'),
  place,
  name: fc.constantFrom('Rex', 'Tom'),
  /** The instance whose database a restarted one gets. */
  of: place,
})

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

const urls = [
  ...['/v1/pets', '/v1/pets?limit=1', '/v1/pets?status=available', '/openapi.json'],
  ...['/trpc/pets.list', '/trpc/pets.counts', '/trpc/pets.list,pets.counts?batch=1'],
]

test('after any sequence of creates, deletes, restarts and other databases, a known tag gets 304 exactly if the body is the same', async () => {
  const databases = [await openDatabase(), await openDatabase()] as const
  const [first, second] = databases
  const instances = await Promise.all([start(first), start(first), start(second)])
  /** The bodies of each URL by their tags. */
  const known = new Map(urls.map((url) => [url, new Map<string, string>()]))
  let unchanged = 0

  async function run({ action, place, name, of }: Step): Promise<void> {
    const { database, api } = instances[place]
    if (action === 'create') await api.rest.post('/v1/pets', { name, categoryId: 1 })
    else if (action === 'delete') await database.execute('DELETE FROM pets WHERE id = (SELECT max(id) FROM pets)')
    else if (action === 'empty') await database.empty("name <> 'test'")
    else instances[place] = await start(instances[of])
  }

  async function checkAll(): Promise<void> {
    for (const { api } of instances) {
      for (const [url, bodies] of known) {
        const { text, headers } = await api.rest.get(url)
        const { etag = '' } = headers
        expect(bodies.get(etag) ?? text, `${url} ${etag}`).toBe(text)
        const others = [...bodies.keys()].filter((tag) => tag !== etag).join()
        bodies.set(etag, text)
        if (others !== '') expect((await api.rest.get(url, { 'if-none-match': others })).text).toBe(text)
        expect((await api.rest.get(url, { 'if-none-match': `${others},${etag}` })).status).toBe(304)
        unchanged++
      }
    }
  }

  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 10 }), async (steps) => {
      for (const each of steps) {
        await run(each)
        await checkAll()
      }
    }),
    { numRuns: 6, seed: 20_261_123, endOnFailure: true },
  )
  expect(unchanged).toBeGreaterThan(500)
  expect(known.get('/v1/pets')?.size).toBeGreaterThan(5)
})

interface KeyedDatabase {
  database: TestDatabase
  key: string
}

async function openDatabase(): Promise<KeyedDatabase> {
  const database = await testDatabase()
  return { database, key: await createKey(await database.open(), 'test') }
}

/** Starts an instance. The previous one stays open until the end of the test, as in a rolling restart. */
async function start({ database, key }: KeyedDatabase): Promise<KeyedDatabase & { api: TestApi }> {
  return { database, key, api: await startTestApi({ store: await database.open(), key, keyName: 'test' }) }
}
