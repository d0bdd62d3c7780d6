import { expect, onTestFinished, test } from 'vitest'
import { logLinesIn } from '../../../engine/test/support/log-lines.ts'
import { isLongForm, report, showProgress } from '../../../engine/test/support/long-form.ts'
import { query } from '../../../engine/test/support/postgres/databases.ts'
import { startPostgres } from '../../../engine/test/support/postgres/server.ts'
import type { Server } from '../../../engine/test/support/process.ts'
import { connectRestClient } from '../../../engine/test/support/rest-client.ts'
import { temporaryFolder } from '../../../engine/test/support/temporary.ts'
import { changedRows, compareChanges, type Row, startChanges } from '../../support/changes.ts'
import { maxRetryTime, startLoad } from '../../support/load.ts'
import { mintApiKey, startServer } from '../../support/petstore.ts'
import { type Balancer, startBalancer } from '../../support/postgres/balancer.ts'

const rounds = isLongForm ? 10 : 1
const petsBetween = isLongForm ? 500 : 100
const writers = 16
const readers = 2
/** Milliseconds, on a busy machine. */
const maxRecoveryTime = 30_000

test('each pet is stored exactly once while instances are added, killed and stopped and their database restarts', async () => {
  const postgres = await startPostgres()
  onTestFinished(() => postgres.stop())
  const [key, balancer] = [mintApiKey(), await startBalancer()]
  const env = { DATABASE_URL: postgres.url, PETSTORE_API_KEY: key, PUBLIC_URL: balancer.url }
  const instances = startInstances(balancer, env)
  await Promise.all([instances.add(), instances.add()])
  const load = startLoad([balancer.url], key, { writers, readers })
  const changes = startChanges({ writers: 4, hasKeys: true, connect: () => connectRestClient(balancer.url, key) })
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
  await Promise.all([load.stop(), changes.stop()])

  expect(load.faults).toEqual([])
  // Safe: the statement selects these columns.
  const changed = (await query(postgres.url, changedRows('integer'))) as unknown as Row[]
  const compared = compareChanges(changes.acknowledged, changed, true)
  expect(compared).toEqual({ lost: 0, undone: 0, half: 0, doubled: 0 })
  const own = "WHERE name NOT LIKE '%:%' ORDER BY id"
  const stored = await query(postgres.url, `SELECT name, id::integer FROM pets ${own}`)
  expect(stored.map(({ name, id }) => [name, id])).toEqual([...load.acknowledged].toSorted(([, a], [, b]) => a - b))
  expect(await query(postgres.url, 'SELECT key FROM idempotency_keys')).toHaveLength(stored.length + changes.calls)
  const { failures, replayed, passes, longest } = load
  const figures = {
    rounds,
    pets: stored.length,
    changes: changes.calls,
    ...compared,
    failures,
    replayed,
    passes,
    recoveries,
    longest,
  }
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
  const faults = logLinesIn(stdout).filter(({ level, msg, err }) => {
    const concernsDatabase = err?.type === 'StoreUnavailable' || /^The service is not ready. The database /.test(msg)
    return /^(?:error|fatal)$/.test(level) && !concernsDatabase
  })
  return [...faults.map((line) => JSON.stringify(line)), ...(stderr ? [stderr] : [])]
}
