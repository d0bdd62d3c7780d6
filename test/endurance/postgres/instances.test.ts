import { setTimeout as wait } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { mintApiKey } from '../../../server/auth/api-key.ts'
import { isLongForm, report, showProgress } from '../../support/long-form.ts'
import { type Balancer, startBalancer } from '../../support/postgres/balancer.ts'
import { query } from '../../support/postgres/databases.ts'
import { startPostgres } from '../../support/postgres/server.ts'
import { type Server, startServer } from '../../support/process.ts'
import { connectRestClient, type RestClient, type RestResponse } from '../../support/rest-client.ts'
import { temporaryFolder } from '../../support/temporary.ts'

const rounds = isLongForm ? 10 : 1
const petsBetween = isLongForm ? 500 : 100
const writers = 16
const readers = 2
/** Milliseconds. */
const maxRetryTime = 30_000
const maxRecoveryTime = 5_000

test('each pet is stored exactly once while instances are added, killed and stopped and their database restarts', async () => {
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
  expect(Math.max(...recoveries)).toBeLessThan(maxRecoveryTime)
  await instances.stop()
  report('Instances behind a balancer', figures)
}, 600_000)

/** Processes that share a database. */
function startInstances(balancer: Balancer, env: Record<string, string>) {
  const folder = temporaryFolder()
  const running: Server[] = []

  async function add(): Promise<void> {
    const server = await startServer({ folder, env })
    running.push(server)
    balancer.add(server.url)
  }
  /** An instance that is stopped by SIGTERM must have logged no error except that the database was unavailable. */
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
    /** Does not remove the instance from the balancer. */
    kill: () => end('SIGKILL'),
    /** Removes the instance from the balancer first. */
    retire: () => end('SIGTERM'),
    /** Waits until all instances are ready. */
    async ready(): Promise<void> {
      await Promise.all(running.map((server) => Promise.race([untilReady(server), failIfEnded(server)])))
    },
    async stop(): Promise<void> {
      while (running.length > 0) await end('SIGTERM')
    },
  }
}

async function untilReady({ url }: Server): Promise<void> {
  const status = async () => (await fetch(`${url}/readyz`)).status
  await expect.poll(status, { timeout: maxRetryTime, interval: 20 }).toBe(200)
}

async function failIfEnded(server: Server): Promise<never> {
  throw new Error(`${server.url} ended by itself (${await server.ended}): ${server.stderr}`)
}

/** The logged errors, except those about the database, and the standard error output. */
function faultsOf({ stdout, stderr }: Server): string[] {
  const lines = stdout.split('\n').filter((line) => /"level":"(?:error|fatal)"/.test(line))
  return [...lines.filter((line) => JSON.parse(line).err?.type !== 'StoreUnavailable'), ...(stderr ? [stderr] : [])]
}

/**
 * Clients that create pets with the name as the idempotency key, and clients that read all pages of the list. They retry
 * after a 503 or a closed connection until they succeed. Every other failure is a fault.
 */
function startLoad(url: string, key: string) {
  /** Ids of pets by name. */
  const acknowledged = new Map<string, number>()
  const failures: Record<string, number> = {}
  const load = { acknowledged, failures, faults: [] as string[], replayed: 0, passes: 0, longest: 0, reach, stop }
  let isStopping = false

  async function retry(send: () => Promise<RestResponse>): Promise<RestResponse> {
    for (const deadline = performance.now() + maxRetryTime; performance.now() < deadline; await wait(75)) {
      const begin = performance.now()
      const outcome = await send().catch((error: Error) => error)
      load.longest = Math.max(load.longest, Math.round(performance.now() - begin))
      if (!(outcome instanceof Error) && outcome.status < 300) return outcome
      const kind = kindOfFailure(outcome)
      if (kind) failures[kind] = (failures[kind] ?? 0) + 1
      else load.faults.push(outcome instanceof Error ? String(outcome) : `${outcome.status} ${outcome.text}`)
    }
    throw new Error('A request was retried for too long.')
  }
  async function create(name: string, caller: RestClient): Promise<number> {
    const headers = { 'idempotency-key': name }
    const created = await retry(() => caller.post('/v1/pets', { name, categoryId: 1 }, headers))
    if (created.headers['idempotency-replayed']) load.replayed++
    return JSON.parse(created.text).id
  }
  async function write(index: number): Promise<void> {
    // Some clients send each request twice at the same time.
    const callers = Array.from({ length: index % 4 === 0 ? 2 : 1 }, () => connectRestClient(url, key))
    for (let i = 0; !isStopping; i++) {
      const name = `${index}-${i}`
      const [id = 0, again = id] = await Promise.all(callers.map((caller) => create(name, caller)))
      if (again !== id) load.faults.push(`${name} is both ${id} and ${again}.`)
      acknowledged.set(name, id)
    }
  }
  async function read(): Promise<void> {
    for (const caller = connectRestClient(url, key); !isStopping; load.passes++) {
      const expected = new Set(acknowledged.values())
      const ids = await readAllPages((path) => retry(() => caller.get(path)))
      const misplaced = ids.filter((id, index) => id <= (ids[index - 1] ?? 0))
      if (misplaced.length > 0) load.faults.push(`The list is out of order at ${misplaced}.`)
      const missing = expected.difference(new Set(ids))
      if (missing.size > 0) load.faults.push(`The list lacks ${[...missing]}.`)
    }
  }
  const all = Promise.all([
    ...Array.from({ length: writers }, (_, index) => write(index)),
    ...Array.from({ length: readers }, () => read()),
  ]).catch((error: Error) => load.faults.push(String(error)))

  /** Waits for this number of further pets, or for a fault. */
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

/** The source of an expected failure. Undefined for an unexpected one. */
function kindOfFailure(outcome: RestResponse | Error): string | undefined {
  if (outcome instanceof Error) return 'code' in outcome && outcome.code === 'ECONNRESET' ? 'closed' : undefined
  return outcome.status === 503 && outcome.headers['retry-after'] === '1' ? JSON.parse(outcome.text).code : undefined
}

/** Reads the ids of all pages. */
async function readAllPages(get: (path: string) => Promise<RestResponse>): Promise<number[]> {
  const ids: number[] = []
  for (let path: string | undefined = '/v1/pets?limit=100'; path !== undefined; ) {
    const { headers, text }: RestResponse = await get(path)
    ids.push(...JSON.parse(text).map(({ id }: { id: number }) => id))
    path = /<([^>]+)>; rel="next"/.exec(headers.link ?? '')?.[1]
  }
  return ids
}
