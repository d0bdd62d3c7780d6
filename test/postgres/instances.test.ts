import { setTimeout as wait } from 'node:timers/promises'
import { Client } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { readOwnMigrations } from '../../db/postgres/migrate.ts'
import { prepareDatabase } from '../../db/postgres/prepare.ts'
import { type NewPet, type Store, StoreUnavailable } from '../../db/store.ts'
import { apiKeyRecord, mintApiKey } from '../../server/auth/api-key.ts'
import { type Answer, Caller } from '../support/caller.ts'
import { postgresDatabase } from '../support/database.ts'
import { isLongForm, report, showProgress } from '../support/long-form.ts'
import { type Balancer, startBalancer } from '../support/postgres/balancer.ts'
import { createDatabase, query } from '../support/postgres/databases.ts'
import { startPostgres } from '../support/postgres/server.ts'
import { bannerKey, type Server, startServer } from '../support/process.ts'
import { temporaryFolder } from '../support/temporary.ts'

const rounds = isLongForm ? 10 : 1
const petsBetween = isLongForm ? 500 : 100
const writers = 16
const readers = 2
/** Milliseconds. */
const longestInsistence = 30_000
const longestRecovery = 5_000

test('instances are added, killed and retired, their database restarts, and each pet is there exactly once', async () => {
  const postgres = await startPostgres()
  onTestFinished(() => postgres.stop())
  const [key, balancer] = [mintApiKey(), await startBalancer()]
  const instances = startInstances(balancer, { DATABASE_URL: postgres.url, PETSTORE_API_KEY: key })
  await Promise.all([instances.add(), instances.add()])
  const load = startLoad(balancer.url, key)
  const recoveries: number[] = []

  async function recover(restart: () => Promise<void>): Promise<void> {
    await restart()
    const begin = performance.now()
    await Promise.all([load.reach(1), instances.ready()])
    recoveries.push(Math.round(performance.now() - begin))
    await load.reach(petsBetween)
  }

  for (let round = 1; round <= rounds; round++) {
    await instances.add()
    await load.reach(petsBetween)
    await instances.kill()
    await load.reach(petsBetween)
    await instances.add()
    await recover(postgres.restart)
    if (isLongForm) await recover(postgres.crash)
    const failed = load.failures.balancer
    await instances.retire()
    expect(load.failures.balancer).toBe(failed)
    showProgress(`${round} rounds, ${load.acknowledged.size} pets, failed: ${JSON.stringify(load.failures)}`)
  }
  await load.stop()

  expect(load.faults).toEqual([])
  const stored = await query(postgres.url, 'SELECT name, id::integer FROM pets ORDER BY id')
  expect(stored.map(({ name, id }) => [name, id])).toEqual([...load.acknowledged].toSorted(([, a], [, b]) => a - b))
  expect(await query(postgres.url, 'SELECT key FROM idempotency_keys')).toHaveLength(stored.length)
  const { failures, replayed, passes, longest } = load
  const figures = { rounds, pets: stored.length, failures, replayed, passes, recoveries, longest }
  expect(failures).toMatchObject({ balancer: expect.any(Number), unavailable: expect.any(Number) })
  expect(replayed).toBeGreaterThan(0)
  expect(passes).toBeGreaterThan(readers)
  expect(Math.max(...recoveries)).toBeLessThan(longestRecovery)
  await instances.stop()
  report('Instances behind a balancer', figures)
}, 600_000)

test.for(['create', 'createOnce'] as const)('%s waits for the pet that a person has not committed yet', async (way) => {
  const { store, person } = await startBesidePerson()
  const creation = createBy(store, way)
  await expect.poll(() => person.othersThatWait()).toBe(1)
  expect(await store.pets.list({ limit: 10, cursor: 0n })).toEqual([])
  await person.query('COMMIT')
  expect(await creation).toMatchObject({ id: 2n })
  expect((await store.pets.list({ limit: 10, cursor: 0n })).map(({ id }) => id)).toEqual([1n, 2n])
})

test.for(['create', 'createOnce'] as const)('%s gives up a person who does not commit in time', async (way) => {
  const { store, person } = await startBesidePerson()
  const begin = performance.now()
  await expect(createBy(store, way)).rejects.toThrow(StoreUnavailable)
  const milliseconds = performance.now() - begin
  expect(milliseconds).toBeGreaterThan(1_900)
  expect(milliseconds).toBeLessThan(3_500)
  await person.query('COMMIT')
  expect(await createBy(store, way)).toMatchObject({ id: 2n })
})

test('creates that arrive while a batch waits for an open transaction fail with the next batch, after at most twice the time', async () => {
  const { store, person } = await startBesidePerson()
  const end = performance.now() + 5_000
  const milliseconds: number[] = []
  async function write(): Promise<void> {
    while (performance.now() < end) {
      const begin = performance.now()
      await expect(store.pets.create(rex)).rejects.toThrow(StoreUnavailable)
      milliseconds.push(performance.now() - begin)
    }
  }
  await Promise.all(Array.from({ length: 12 }, write))
  expect(Math.max(...milliseconds)).toBeLessThan(5_000)
  await person.query('COMMIT')
  expect(await store.pets.create(rex)).toMatchObject({ name: 'Rex' })
})

test('whoever follows the list sees each pet once and in order while three instances write', async () => {
  const database = postgresDatabase(await createDatabase())
  const stores = await Promise.all([database.open(), database.open(), database.open()])
  const created: bigint[] = []
  let isOver = false
  async function write(store: Store): Promise<void> {
    for (let i = 0; i < (isLongForm ? 2_000 : 200); i++) created.push((await store.pets.create(rex)).id)
  }
  async function follow(store: Store): Promise<bigint[]> {
    const seen: bigint[] = []
    for (;;) {
      const wasOver = isOver
      const page = await store.pets.list({ limit: 100, cursor: seen.at(-1) ?? 0n })
      seen.push(...page.map(({ id }) => id))
      if (wasOver && page.length === 0) return seen
    }
  }

  const followers = Promise.all([...stores, await database.open()].map(follow))
  await Promise.all(stores.flatMap((store) => Array.from({ length: 4 }, () => write(store))))
  isOver = true
  created.sort((a, b) => Number(a - b))
  for (const seen of await followers) expect(seen).toEqual(created)
}, 60_000)

test('of eight instances that start at once on an empty database one makes the tables and the first key', async () => {
  const url = await createDatabase()
  const made = await Promise.all(Array.from({ length: 8 }, () => prepareDatabase(url)))
  expect(made.filter(Boolean)).toHaveLength(1)
  const journal = await query(url, 'SELECT name, hash FROM migrations ORDER BY name')
  expect(journal).toEqual(readOwnMigrations().map(({ name, hash }) => ({ name, hash })))

  const stores = await Promise.all(Array.from({ length: 8 }, () => postgresDatabase(url).open()))
  const first = await Promise.all(stores.map(({ apiKeys }) => apiKeys.createFirst(apiKeyRecord(mintApiKey(), 'first'))))
  expect(first.filter(Boolean)).toHaveLength(1)
})

test('three processes that start at once on an empty database print one first key, which all of them accept', async () => {
  const [folder, env] = [temporaryFolder(), { DATABASE_URL: await createDatabase() }]
  const servers = await Promise.all(Array.from({ length: 3 }, () => startServer({ folder, env })))
  const keys = () => servers.flatMap(({ stdout }) => bannerKey.exec(stdout)?.[1] ?? [])
  await expect.poll(keys).toHaveLength(1)
  for (const { url } of servers) {
    expect(await new Caller(url, keys()[0] ?? '').get('/v1/pets')).toMatchObject({ status: 200 })
  }
  expect(await query(env.DATABASE_URL, 'SELECT name FROM api_keys')).toEqual([{ name: 'first' }])
})

test('an instance that listens outlives its database, even if it was about to look whether that needs a first key', async () => {
  const [url, key] = [await createDatabase(), mintApiKey()]
  const turn = await connect(url)
  await turn.query('SELECT pg_advisory_lock(1346720851, 3)')
  const server = await startServer({ env: { DATABASE_URL: url, PETSTORE_API_KEY: key } })
  await wait(300)
  const others = 'FROM pg_stat_activity WHERE datname = current_database()'
  await query(url, `SELECT pg_terminate_backend(pid) ${others} AND application_name = 'petstore'`)
  await turn.query('SELECT pg_advisory_unlock_all()')
  await Promise.race([server.ended, wait(500)])
  expect(server).toMatchObject({ stderr: '', child: { exitCode: null } })
  expect(await new Caller(server.url, key).get('/v1/pets')).toMatchObject({ status: 200 })
})

const rex: NewPet = { name: 'Rex', categoryId: 7n, status: 'available' }

async function createBy({ apiKeys, pets }: Store, way: 'create' | 'createOnce') {
  const [{ id: apiKeyId } = { id: 0n }] = await apiKeys.list()
  return way === 'create' ? pets.create(rex) : (await pets.createOnce(rex, { apiKeyId, key: 'a' })).pet
}

async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url })
  await client.connect()
  onTestFinished(() => client.end())
  return client
}

/** A store, and a person who has inserted a pet and not committed it. */
async function startBesidePerson() {
  const url = await createDatabase()
  const store = await postgresDatabase(url).open()
  await store.apiKeys.create(apiKeyRecord(mintApiKey(), 'test'))
  const client = await connect(url)
  await client.query("BEGIN; INSERT INTO pets (name, category_id, status) VALUES ('Minka', 7, 'sold')")
  const waiting = "FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'"
  const othersThatWait = async () => (await query(url, `SELECT pid ${waiting}`)).length
  return { store, person: { query: (sql: string) => client.query(sql), othersThatWait } }
}

/** Processes that share a database. */
function startInstances(balancer: Balancer, env: Record<string, string>) {
  const folder = temporaryFolder()
  const running: Server[] = []

  async function add(): Promise<void> {
    const server = await startServer({ folder, env })
    running.push(server)
    balancer.add(server.url)
  }
  /** Those that may finish their work leave nothing in their logs but that the database was away. */
  async function end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const server = running.shift()
    if (!server) throw new Error('No instance is running.')
    if (signal === 'SIGTERM') balancer.remove(server.url)
    server.child.kill(signal)
    expect(await server.ended).toBe(signal === 'SIGTERM' ? 0 : signal)
    if (signal === 'SIGTERM') expect(faultsOf(server)).toEqual([])
  }
  return {
    add,
    /** The balancer is not told. */
    kill: () => end('SIGKILL'),
    /** The balancer is told. */
    retire: () => end('SIGTERM'),
    /** Waits until each of them says that it is ready. */
    async ready(): Promise<void> {
      await Promise.all(running.map((server) => Promise.race([untilReady(server), refuseEnd(server)])))
    },
    async stop(): Promise<void> {
      while (running.length > 0) await end('SIGTERM')
    },
  }
}

async function untilReady({ url }: Server): Promise<void> {
  const status = async () => (await fetch(`${url}/readyz`)).status
  await expect.poll(status, { timeout: longestInsistence, interval: 20 }).toBe(200)
}

async function refuseEnd(server: Server): Promise<never> {
  throw new Error(`${server.url} ended by itself (${await server.ended}): ${server.stderr}`)
}

/** All that is not about the database. */
function faultsOf({ stdout, stderr }: Server): string[] {
  const lines = stdout.split('\n').filter((line) => line.includes('"level":50') || line.includes('"level":60'))
  return [...lines.filter((line) => JSON.parse(line).err?.type !== 'StoreUnavailable'), ...(stderr ? [stderr] : [])]
}

/**
 * Callers that create pets, each under its name as its key, and callers that read the list from its beginning to its end.
 * They repeat what fails with a 503 or a closed connection until it succeeds; all else is a fault.
 */
function startLoad(url: string, key: string) {
  /** The ids of the pets by their names. */
  const acknowledged = new Map<string, number>()
  const failures: Record<string, number> = {}
  const load = { acknowledged, failures, faults: [] as string[], replayed: 0, passes: 0, longest: 0, reach, stop }
  let isStopping = false

  async function insist(send: () => Promise<Answer>): Promise<Answer> {
    for (const deadline = performance.now() + longestInsistence; performance.now() < deadline; await wait(75)) {
      const begin = performance.now()
      const answer = await send().catch((error: Error) => error)
      load.longest = Math.max(load.longest, Math.round(performance.now() - begin))
      if (!(answer instanceof Error) && answer.status < 300) return answer
      const kind = kindOfFailure(answer)
      if (kind) failures[kind] = (failures[kind] ?? 0) + 1
      else load.faults.push(answer instanceof Error ? String(answer) : `${answer.status} ${answer.body}`)
    }
    throw new Error('A request was repeated for too long.')
  }
  async function create(name: string, caller: Caller): Promise<number> {
    const headers = { 'idempotency-key': name }
    const created = await insist(() => caller.post('/v1/pets', { name, categoryId: 1 }, headers))
    if (created.headers['idempotency-replayed']) load.replayed++
    return JSON.parse(created.body).id
  }
  async function write(place: number): Promise<void> {
    // Some ask twice at once.
    const callers = Array.from({ length: place % 4 === 0 ? 2 : 1 }, () => new Caller(url, key))
    for (let i = 0; !isStopping; i++) {
      const name = `${place}-${i}`
      const [id = 0, again = id] = await Promise.all(callers.map((caller) => create(name, caller)))
      if (again !== id) load.faults.push(`${name} is both ${id} and ${again}.`)
      acknowledged.set(name, id)
    }
  }
  async function read(): Promise<void> {
    for (const caller = new Caller(url, key); !isStopping; load.passes++) {
      const expected = new Set(acknowledged.values())
      const ids = await readAll((path) => insist(() => caller.get(path)))
      const misplaced = ids.filter((id, index) => id <= (ids[index - 1] ?? 0))
      if (misplaced.length > 0) load.faults.push(`The list is out of order at ${misplaced}.`)
      const missing = expected.difference(new Set(ids))
      if (missing.size > 0) load.faults.push(`The list lacks ${[...missing]}.`)
    }
  }
  const all = Promise.all([
    ...Array.from({ length: writers }, (_, place) => write(place)),
    ...Array.from({ length: readers }, () => read()),
  ]).catch((error: Error) => load.faults.push(String(error)))

  /** Waits for so many more pets, or for a fault. */
  async function reach(pets: number): Promise<void> {
    const enough = acknowledged.size + pets
    while (acknowledged.size < enough && load.faults.length === 0) await wait(5)
  }
  async function stop(): Promise<void> {
    isStopping = true
    await all
  }
  return load
}

/** Who failed the request, if it is in order that anyone did. */
function kindOfFailure(answer: Answer | Error): string | undefined {
  if (answer instanceof Error) return 'code' in answer && answer.code === 'ECONNRESET' ? 'closed' : undefined
  return answer.status === 503 && answer.headers['retry-after'] === '1' ? JSON.parse(answer.body).code : undefined
}

/** The ids of all pages. */
async function readAll(get: (path: string) => Promise<Answer>): Promise<number[]> {
  const ids: number[] = []
  for (let path: string | undefined = '/v1/pets?limit=100'; path !== undefined; ) {
    const { headers, body }: Answer = await get(path)
    ids.push(...JSON.parse(body).map(({ id }: { id: number }) => id))
    path = /<([^>]+)>; rel="next"/.exec(String(headers.link))?.[1]
  }
  return ids
}
