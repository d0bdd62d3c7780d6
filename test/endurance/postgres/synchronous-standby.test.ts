import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { report } from '../../../engine/test/support/long-form.ts'
import { query } from '../../../engine/test/support/postgres/databases.ts'
import { createKey, postgresDatabase, startTestApi } from '../../support/petstore.ts'
import { replicateSynchronously } from '../../support/postgres/failover.ts'
import { createReplicas } from '../../support/postgres/replication.ts'

const rounds = 3

test('while a synchronous standby is away, reads go on, and only two connections wait for it', async () => {
  const [first, second] = await createReplicas()
  await second.follow(first)
  const store = await postgresDatabase(first.url).open()
  const unused: string[] = []
  while (unused.length < rounds) unused.push(await createKey(store, `unused ${unused.length}`))
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
