import { setTimeout as wait } from 'node:timers/promises'
import { expect, onTestFinished } from 'vitest'
import { report } from '../../../engine/test/support/long-form.ts'
import { query } from '../../../engine/test/support/postgres/databases.ts'
import { startProxy } from '../../../engine/test/support/postgres/proxy.ts'
import type { Server } from '../../../engine/test/support/process.ts'
import { connectRestClient } from '../../../engine/test/support/rest-client.ts'
import { temporaryFolder } from '../../../engine/test/support/temporary.ts'
import { readers, startLoad } from '../load.ts'
import { changedRows, expectAsAcknowledged, mintApiKey, startChanges, startServer } from '../petstore.ts'
import { createReplicas, type Replica } from './replication.ts'

/** Seconds without writes or reads. */
interface Outage {
  writes: number
  reads: number
}

interface Conditions {
  isSynchronous: boolean
  hasStaleReads?: boolean
}

const petsBetween = 100
/** Seconds, on a busy machine. */
const maxOutage = 30

/**
 * Starts a primary with a standby, and two instances of the service under load, which reach the primary through a proxy.
 *
 * @param hasStaleReads whether an instance may read from the old primary, while another one writes to the new one.
 */
export async function startFailover({ isSynchronous, hasStaleReads = false }: Conditions) {
  const [first, second] = await createReplicas()
  /** The address of the cluster, and the one through which the standby replicates. */
  const [cluster, replication] = [await startProxy(new URL(first.url)), await startProxy(new URL(first.url))]
  await second.follow(first, replication.url)
  if (isSynchronous) await replicateSynchronously(first)
  const key = mintApiKey()
  const instances: Server[] = []
  const env = { DATABASE_URL: cluster.url, PETSTORE_API_KEY: key }
  for (let i = 0; i < 2; i++) instances.push(await startServer({ folder: temporaryFolder(), env }))
  const urls = instances.map(({ url }) => url)
  const load = startLoad(urls, key, { mayLose: !isSynchronous, mayBeStale: !isSynchronous || hasStaleReads })
  let connected = 0
  const changes = isSynchronous
    ? startChanges({ writers: 4, hasKeys: true, connect: () => connectRestClient(urls[connected++ % 2] ?? '', key) })
    : undefined
  const follower = followPages(urls, key)
  await load.reach(petsBetween)

  return {
    first,
    second,
    cluster,
    replication,
    instances,
    load,
    /** Measures how long no pet could be created and no page be read from now until both work again. */
    async outage(fault: () => Promise<void>): Promise<Outage> {
      load.gaps.writes.restart()
      load.gaps.reads.restart()
      const passes = load.passes
      await fault()
      await load.reach(petsBetween)
      await expect.poll(() => load.passes, { timeout: 120_000 }).toBeGreaterThan(passes + readers)
      for (const instance of instances) await untilReady(instance)
      return { writes: seconds(load.gaps.writes.longest), reads: seconds(load.gaps.reads.longest) }
    },
    /** Promotes a standby, and leads the service to it. */
    async takeOver(standby: Replica): Promise<void> {
      await standby.promote()
      cluster.switchTo(new URL(standby.url))
    },
    /**
     * Ends the load, and compares what was acknowledged with what is stored.
     *
     * @returns the names of the pets that are lost, of which there are none unless `mayLose`
     */
    async conclude(title: string, primary: Replica, outages: Outage[], { mayLose = false } = {}): Promise<string[]> {
      await load.stop()
      expect(load.faults).toEqual([])
      if (changes) {
        await changes.stop()
        expectAsAcknowledged(changes, await query(primary.url, changedRows))
        expect(changes.calls).toBeGreaterThan(petsBetween)
      }
      const own = "WHERE name NOT LIKE '%:%' ORDER BY id"
      const stored = await query(primary.url, `SELECT name, id::integer FROM pets ${own}`)
      const ids = await follower.stop()
      const names = new Map(stored.map(({ name, id }) => [String(name), Number(id)]))
      const lost = [...load.acknowledged].filter(([name, id]) => names.get(name) !== id).map(([name]) => name)
      /** Stored pets that a client missed that always read the page after the last id it had seen. */
      const skipped = stored.map(({ id }) => Number(id)).filter((id) => !ids.has(id))
      report(title, { acknowledged: load.acknowledged.size, lost: lost.length, outages })
      expect(stored).toHaveLength(names.size)
      if (!mayLose) expect({ lost, skipped }).toEqual({ lost: [], skipped: [] })
      expect(Math.max(...outages.flatMap(({ writes, reads }) => [writes, reads]))).toBeLessThan(maxOutage)
      return lost
    },
  }
}

/** Reads what comes after the last id that was read, again and again, at the instances in turn. */
function followPages(urls: string[], key: string) {
  const callers = urls.map((url) => connectRestClient(url, key))
  const ids = new Set<number>()
  const ended = new AbortController()
  onTestFinished(() => ended.abort())
  let [last, isStopping] = [0, false]

  async function follow(): Promise<void> {
    for (let turn = 0; !ended.signal.aborted; turn++) {
      const page = await callers[turn % callers.length]?.get(`/v1/pets?limit=100&cursor=${last}`).catch(() => undefined)
      await wait(20)
      if (page?.status !== 200) continue
      const found: { id: number }[] = JSON.parse(page.text)
      if (isStopping && found.length === 0) return
      for (const { id } of found) ids.add(id)
      last = found.at(-1)?.id ?? last
    }
  }
  const following = follow()
  return {
    /** Reads until no page is left. */
    async stop(): Promise<Set<number>> {
      isStopping = true
      await following
      return ids
    },
  }
}

/** From now on, a commit waits until a standby has it. */
export async function replicateSynchronously(primary: Replica): Promise<void> {
  await primary.setting('synchronous_standby_names', '*')
  const state = () => query(primary.url, 'SELECT sync_state FROM pg_stat_replication')
  await expect.poll(state, { timeout: 120_000 }).toContainEqual({ sync_state: 'sync' })
}

export async function untilReady({ url }: { url: string }, status = 200): Promise<void> {
  await expect.poll(async () => (await fetch(`${url}/readyz`)).status, { timeout: 120_000 }).toBe(status)
}

/** Counts connections of the service. */
export async function countSessions({ url }: Replica, condition = 'true'): Promise<number> {
  const sessions = await query(
    url,
    `SELECT pid FROM pg_stat_activity WHERE application_name = 'petstore' AND ${condition}`,
  )
  return sessions.length
}

function seconds(milliseconds: number): number {
  return Math.round(milliseconds / 100) / 10
}
