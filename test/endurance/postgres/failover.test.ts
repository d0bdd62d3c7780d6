import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { isLongForm, report } from '../../../engine/test/support/long-form.ts'
import { query } from '../../../engine/test/support/postgres/databases.ts'
import { startProxy } from '../../../engine/test/support/postgres/proxy.ts'
import { waitForOutput } from '../../../engine/test/support/process.ts'
import { connectRestClient } from '../../../engine/test/support/rest-client.ts'
import { temporaryFolder } from '../../../engine/test/support/temporary.ts'
import {
  bannerKey,
  createKey,
  postgresDatabase,
  runProgram,
  runToEnd,
  startServer,
  startTestApi,
} from '../../support/petstore.ts'
import { countSessions, replicateSynchronously, startFailover, untilReady } from '../../support/postgres/failover.ts'
import { createReplicas } from '../../support/postgres/replication.ts'

const runs = isLongForm ? Array.from({ length: 5 }, (_, index) => index + 1) : [1]

describe.for(runs)('in run %i', { timeout: 900_000 }, () => {
  test('a primary that is killed loses no pet with a synchronous standby', async () => {
    const trial = await startFailover({ isSynchronous: true })
    const { first, second, instances } = trial
    const outage = await trial.outage(async () => {
      await first.kill()
      for (const instance of instances) await untilReady(instance, 503)
      await trial.takeOver(second)
    })
    await expectKeysInSync(trial)
    // The former primary returns as a standby, and takes over again.
    await first.follow(second)
    await replicateSynchronously(second)
    // Without a standby, no commit is acknowledged.
    await first.stop()
    for (const instance of instances) await untilReady(instance, 503)
    await first.start()
    for (const instance of instances) await untilReady(instance)
    const back = await trial.outage(async () => {
      await second.kill()
      await trial.takeOver(first)
    })
    await trial.conclude('Primary killed, synchronous standby', first, [outage, back])
  })

  test('a planned switchover loses no pet', async () => {
    const trial = await startFailover({ isSynchronous: false })
    const { first, second } = trial
    const outage = await trial.outage(async () => {
      await first.stop()
      await trial.takeOver(second)
    })
    await trial.conclude('Planned switchover, asynchronous standby', second, [outage])
  })

  test('with an asynchronous standby, only pets that were not replicated yet are lost', async () => {
    const trial = await startFailover({ isSynchronous: false })
    const { first, second, replication, load } = trial
    const replicatedAt = performance.now()
    const [position] = await query(first.url, 'SELECT pg_current_wal_lsn() AS end')
    const replayed = `SELECT pg_last_wal_replay_lsn() >= '${position?.end}' AS "isReplayed"`
    await expect.poll(() => query(second.url, replayed)).toEqual([{ isReplayed: true }])
    const outage = await trial.outage(async () => {
      await replication.silence()
      await Promise.all([wait(1_000), load.reach(10)])
      await first.kill()
      await trial.takeOver(second)
    })
    const recoveredAt = performance.now()
    const title = 'Primary killed, asynchronous standby 1 s behind'
    const lost = await trial.conclude(title, second, [outage], { mayLose: true })
    expect(lost.length).toBeGreaterThan(0)
    for (const name of lost) {
      const at = load.acknowledgedAt.get(name) ?? 0
      expect(at).toBeGreaterThan(replicatedAt)
      expect(at).toBeLessThan(recoveredAt)
    }
  })

  test('after a network cut, no instance returns to the old primary, which still accepts writes', async () => {
    const trial = await startFailover({ isSynchronous: true })
    const { first, second, cluster, replication, load } = trial
    const outage = await trial.outage(async () => {
      await Promise.all([cluster.silence(), replication.silence()])
      await trial.takeOver(second)
      await cluster.resume()
    })
    // A commit on the old primary waits for its standby, also if its client has gone.
    await expect.poll(() => countSessions(first, "wait_event IS DISTINCT FROM 'SyncRep'")).toBe(0)
    const stored = await query(first.url, 'SELECT count(*) FROM pets')
    await load.reach(100)
    expect(await query(first.url, 'SELECT count(*) FROM pets')).toEqual(stored)
    await trial.conclude('Network cut, synchronous standby', second, [outage])
  })

  test('an old primary that has become read-only, and keeps its connections, is left', async () => {
    const trial = await startFailover({ isSynchronous: true, hasStaleReads: true })
    const { first, second, instances } = trial
    const outage = await trial.outage(async () => {
      await first.setting('default_transaction_read_only', 'on')
      for (const instance of instances) await untilReady(instance, 503)
      await trial.takeOver(second)
    })
    await expect.poll(() => countSessions(first)).toBe(0)
    await trial.conclude('Primary made read-only, synchronous standby', second, [outage])
  })
})

test('a standby is refused until it is promoted', { timeout: 900_000 }, async () => {
  const [first, second] = await createReplicas()
  await second.follow(first)
  const cluster = await startProxy(new URL(first.url))
  const [folder, env] = [temporaryFolder(), { DATABASE_URL: cluster.url }]
  const running = await startServer({ folder, env })
  const key = await waitForOutput(running, bannerKey)
  cluster.switchTo(new URL(second.url))
  await cluster.resume()
  const list = async () => (await connectRestClient(running.url, key).get('/v1/pets')).status
  await untilReady(running, 503)
  // A standby may lack the newest pets.
  expect(await list()).toBe(503)
  const reason = 'cannot be used: the server is a standby; wait until the server accepts writes, or correct the address'
  expect(running.stdout).toContain('the server is a standby')
  for (const words of ['doctor', 'db status', 'keys list', `db copy --from ${cluster.url} --to file:copy.db`]) {
    const run = runProgram({ folder, env, arguments: words.split(' ') })
    expect(await run.ended).toBe(1)
    expect(run.stdout + run.stderr).toContain(reason)
  }
  // A start waits for the promotion.
  const starting = startServer({ folder: temporaryFolder(), env })
  await second.promote()
  await untilReady(await starting)
  await untilReady(running)
  expect(await list()).toBe(200)
})

/** A key that is created by a command works at every instance, until a command revokes it. */
async function expectKeysInSync({ instances, cluster }: Awaited<ReturnType<typeof startFailover>>): Promise<void> {
  const env = { DATABASE_URL: cluster.url }
  const created = await runToEnd({ env, arguments: ['keys', 'create', 'till'] })
  const clients = instances.map((instance) => connectRestClient(instance.url, created.stdout.trim()))
  const statuses = () => Promise.all(clients.map(async (client) => (await client.get('/v1/pets')).status))
  expect(await statuses()).toEqual([200, 200])
  expect(await runProgram({ env, arguments: ['keys', 'revoke', 'till'] }).ended).toBe(0)
  await expect.poll(statuses, { timeout: 10_000 }).toEqual([401, 401])
}

test('while a synchronous standby is away, reads go on, and only two connections wait for it', async () => {
  const [first, second] = await createReplicas()
  await second.follow(first)
  const store = await postgresDatabase(first.url).open()
  const unused: string[] = []
  while (unused.length < 3) unused.push(await createKey(store, `unused ${unused.length}`))
  const instances = await Promise.all(['shop', 'till'].map((keyName) => startInstance(first.url, keyName)))
  await replicateSynchronously(first)
  await second.stop()
  // The starts have checked the store, and /readyz does so at most once a second.
  await wait(1_000)

  const waiting = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
  const counts: number[] = []
  for (const key of unused) {
    const requests = instances.flatMap(({ rest }) => [
      rest.get('/v1/pets', { authorization: `Bearer ${key}` }),
      rest.post('/v1/pets', { name: 'Rex', categoryId: 1 }, { 'idempotency-key': 'a' }),
      rest.get('/readyz'),
    ])
    const statuses = (await Promise.all(requests)).map(({ status }) => status)
    expect(statuses).toEqual([200, 503, 503, 200, 503, 503])
    await wait(1_000)
    counts.push((await query(first.url, waiting)).length)
  }
  report('Connections that wait for the standby', { counts })
  expect(Math.max(...counts)).toBe(2)

  await second.start()
  for (const { rest } of instances) await expect.poll(async () => (await rest.get('/readyz')).status).toBe(200)
  await expect.poll(() => query(first.url, waiting)).toEqual([])
})

async function startInstance(url: string, keyName: string) {
  const store = await postgresDatabase(url).open()
  return startTestApi({ store, keyName, readinessTimeLimit: 900 })
}
