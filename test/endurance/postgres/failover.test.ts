import { setTimeout as wait } from 'node:timers/promises'
import { Client } from 'pg'
import { expect, test } from 'vitest'
import { isLongForm, report } from '../../support/long-form.ts'
import { query } from '../../support/postgres/databases.ts'
import {
  countOldSessions,
  countSessions,
  minAge,
  replicateSynchronously,
  startFailover,
  untilReady,
  urlOf,
} from '../../support/postgres/failover.ts'
import { createReplicas } from '../../support/postgres/replication.ts'
import { runPetstore, startServer, waitForOutput } from '../../support/process.ts'
import { connectRestClient } from '../../support/rest-client.ts'
import { temporaryFolder } from '../../support/temporary.ts'

const runs = isLongForm ? Array.from({ length: 5 }, (_, index) => index + 1) : [1]
/** Seconds without writes or reads, on a busy machine. */
const maxOutage = 30

test.for(runs)(
  'a primary that is killed loses no pet with a synchronous standby, in run %i',
  { timeout: 900_000 },
  async () => {
    const trial = await startFailover({ isSynchronous: true })
    const { first, second, instances } = trial
    const outage = await trial.outage(async () => {
      await first.kill()
      for (const instance of instances) await untilReady(instance, 503)
      await second.promote()
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
    await wait(minAge)
    await expect.poll(() => countOldSessions(first)).toBe(0)
    const back = await trial.outage(async () => {
      await second.kill()
      await first.promote()
    })
    const { lost, doubled, skipped, ...result } = await trial.result(first, second)
    report('Primary killed, synchronous standby', { ...result, lost: lost.length, doubled, ...outage, back })
    expect({ lost, doubled, skipped }).toEqual({ lost: [], doubled: 0, skipped: [] })
    expect(Math.max(outage.writes, outage.reads, back.writes, back.reads)).toBeLessThan(maxOutage)
  },
)

test.for(runs)('a planned switchover loses no pet, in run %i', { timeout: 900_000 }, async () => {
  const trial = await startFailover({ isSynchronous: false })
  const { first, second } = trial
  const outage = await trial.outage(async () => {
    await first.stop()
    await second.promote()
  })
  await first.follow(second)
  await wait(minAge)
  await expect.poll(() => countOldSessions(first)).toBe(0)
  const { lost, doubled, skipped, ...result } = await trial.result(second, first)
  report('Planned switchover, asynchronous standby', { ...result, lost: lost.length, doubled, ...outage })
  expect({ lost, doubled, skipped }).toEqual({ lost: [], doubled: 0, skipped: [] })
  expect(Math.max(outage.writes, outage.reads)).toBeLessThan(maxOutage)
})

test.for(runs)(
  'with an asynchronous standby, only pets that were not replicated yet are lost, in run %i',
  { timeout: 900_000 },
  async () => {
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
      await second.promote()
    })
    const recoveredAt = performance.now()
    const { lost, doubled, skipped, ...result } = await trial.result(second, first)
    report('Primary killed, asynchronous standby 1 s behind', { ...result, lost: lost.length, doubled, ...outage })
    expect(lost.length).toBeGreaterThan(0)
    for (const name of lost) {
      const at = load.acknowledgedAt.get(name) ?? 0
      expect(at).toBeGreaterThan(replicatedAt)
      expect(at).toBeLessThan(recoveredAt)
    }
    expect(doubled).toBe(0)
    expect(Math.max(outage.writes, outage.reads)).toBeLessThan(maxOutage)
  },
)

test.for(runs.flatMap((run) => [true, false].map((isSynchronous) => ({ run, isSynchronous }))))(
  'after a split brain, no instance writes to the old primary: %o',
  { timeout: 900_000 },
  async ({ isSynchronous }) => {
    const trial = await startFailover({ isSynchronous, hasStaleReads: true })
    const { first, second, network, replication, instances, load } = trial
    const outage = await trial.outage(async () => {
      // The first instance and the standby lose the primary. The second instance and the primary lose nothing.
      await Promise.all([network.silence(), replication.silence()])
      await second.promote()
    })
    const onOld = "SELECT count(*)::integer FROM pets WHERE name <> 'late'"
    // The second instance still reaches the old primary, and may write to it until it has looked at the other server.
    for (const instance of instances) await waitForOutput(instance, /(The service changed from PostgreSQL)/)
    await expect.poll(() => countSessions(first, "state = 'active' AND wait_event IS DISTINCT FROM 'SyncRep'")).toBe(0)
    const before = await query(first.url, onOld)
    await network.resume()
    await load.reach(100)
    // A synchronous primary acknowledges no commit while its standby is away, also none of other clients.
    const sent = insertLate(first.url)
    if (isSynchronous) expect(await Promise.race([sent, wait(3_000, 'waiting')])).toBe('waiting')
    else await sent
    sent.catch(() => {})
    // While the new primary restarts, the old one is the only server that accepts writes.
    await second.stop()
    for (const instance of instances) await untilReady(instance, 503)
    await wait(3_000)
    await second.start()
    await load.reach(100)
    await wait(minAge)
    expect(await query(first.url, onOld)).toEqual(before)
    // A commit on the old primary waits until it is stopped, also if its client has gone.
    await expect.poll(() => countOldSessions(first, "wait_event IS DISTINCT FROM 'SyncRep'")).toBe(0)
    const { lost, doubled, skipped, ...result } = await trial.result(second, first)
    const kind = `Network cut and split brain, ${isSynchronous ? '' : 'a'}synchronous standby`
    report(kind, { ...result, lost: lost.length, doubled, ...outage })
    if (isSynchronous) expect({ lost, skipped }).toEqual({ lost: [], skipped: [] })
    expect(doubled).toBe(0)
    expect(Math.max(outage.writes, outage.reads)).toBeLessThan(maxOutage)
  },
)

test('every command uses the server that accepts writes', { timeout: 900_000 }, async () => {
  const [first, second] = await createReplicas()
  await second.follow(first)
  const env = { DATABASE_URL: urlOf(second.host, first.host) }
  const folder = temporaryFolder()
  const petstore = async (...words: string[]) => {
    const run = runPetstore({ folder, env, arguments: words })
    return { code: await run.ended, output: run.stdout + run.stderr }
  }
  const address = `postgres://petstore@${second.host},${first.host}/postgres`
  for (const words of [
    'db migrate',
    'keys create till',
    'seed 20',
    'pets export pets.csv',
    'config check',
    'db status',
  ])
    expect(await petstore(...words.split(' '))).toMatchObject({ code: 0 })
  expect((await petstore('db', 'status')).output).toMatch(new RegExp(`Database +${address} .*\n(.*\n)*Pets +20 `))
  expect((await petstore('db', 'copy', '--from', env.DATABASE_URL, '--to', 'file:copy.db')).output).toContain(address)
  const good = await petstore('doctor')
  expect(good.output).toContain(`${first.host} accepts writes. ${second.host}: it is a standby.`)

  await second.stop()
  expect((await petstore('doctor')).output).toContain(`Only a standby of ${first.host} can take over`)
  await second.start()
  await first.stop()
  const reason = `${address} cannot be used: no server accepts writes (`
  for (const words of ['db status', 'keys list']) {
    const { code, output } = await petstore(...words.split(' '))
    expect(code).toBe(1)
    expect(output).toContain(reason)
    expect(output).toContain(`${second.host}: it is a standby`)
  }
  // A start waits for the promotion.
  const starting = startServer({ folder, env })
  await second.promote()
  await untilReady(await starting)
  // Without a restart of the command or a change of the URL.
  expect(await petstore('keys', 'create', 'shop')).toMatchObject({ code: 0 })
})

/** The server may be killed meanwhile. */
async function insertLate(url: string): Promise<void> {
  const client = new Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  try {
    await client.query("INSERT INTO pets (name, category_id, status) VALUES ('late', 1, 'sold')")
  } finally {
    await client.end()
  }
}

/** A key that is created by a command works at every instance, until a command revokes it. */
async function expectKeysInSync({ instances, url }: Awaited<ReturnType<typeof startFailover>>): Promise<void> {
  const env = { DATABASE_URL: url }
  const created = runPetstore({ env, arguments: ['keys', 'create', 'till'] })
  expect(await created.ended).toBe(0)
  const clients = instances.map((instance) => connectRestClient(instance.url, created.stdout.trim()))
  const statuses = () => Promise.all(clients.map(async (client) => (await client.get('/v1/pets')).status))
  expect(await statuses()).toEqual([200, 200])
  expect(await runPetstore({ env, arguments: ['keys', 'revoke', 'till'] }).ended).toBe(0)
  await expect.poll(statuses, { timeout: 10_000 }).toEqual([401, 401])
}
