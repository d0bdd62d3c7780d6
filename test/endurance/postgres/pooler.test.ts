import { Client } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { connectClient } from '../../../engine/store/postgres/connection/connection.ts'
import { createRole, emptyDatabase, query } from '../../../engine/test/support/postgres/databases.ts'
import { hasPgBouncer, startPgBouncer } from '../../../engine/test/support/postgres/pgbouncer.ts'
import { stopService } from '../../../engine/test/support/process.ts'
import { connectRestClient } from '../../../engine/test/support/rest-client.ts'
import {
  changedRows,
  expectAsAcknowledged,
  mintApiKey,
  postgresDatabase,
  runProgram,
  startChanges,
  startServer,
  startTestApi,
} from '../../support/petstore.ts'

const refusal =
  /^The database postgres:\S+ cannot be used: a pooler shares its connections between sessions; use its session mode, or connect to PostgreSQL directly\.$/m

test('without a pooler, a command needs only one connection', async () => {
  const { url } = await createRole(await emptyDatabase(), 'CONNECTION LIMIT 1')
  const client = await connectClient(url)
  expect(await readTimeout(client)).toBe('2s')
  await client.end()
})

// CI installs PgBouncer.
if (hasPgBouncer) {
  test('in session mode the service recovers from a restart of PgBouncer, and no change is lost or doubled', async () => {
    const { direct, pooled, bouncer } = await start({ pool_mode: 'session' })
    const key = mintApiKey()
    const server = await startServer({ env: { DATABASE_URL: pooled, PETSTORE_API_KEY: key } })
    const load = startChanges({ writers: 8, hasKeys: true, connect: () => connectRestClient(server.url, key) })
    await expect.poll(() => load.calls).toBeGreaterThan(300)
    await bouncer.restart()
    await expect.poll(() => load.calls).toBeGreaterThan(load.calls + 300)
    await load.stop()

    expect([...load.statuses.keys()].toSorted()).toEqual([200, 201, 503])
    expectAsAcknowledged(load, await query(direct, changedRows))
    await stopService(server)
    expect(server.stderr).toBe('')
  })

  test('a session that ends leaves no settings to the next one', async () => {
    const { pooled } = await start({ pool_mode: 'session' })
    const client = await connectClient(pooled, {}, { lock_timeout: 1_234 })
    expect(await readTimeout(client)).toBe('1234ms')
    await client.end()
    expect(await query(pooled, "SELECT current_setting('lock_timeout') AS timeout")).toEqual([{ timeout: '0' }])
  })

  test.for(['transaction', 'statement'])(
    '%s mode is refused by every command, with one sentence',
    async (pool_mode) => {
      const { direct, pooled } = await start({ pool_mode })
      const env = { DATABASE_URL: pooled }
      for (const words of [[], ['keys', 'create', 'till'], ['db', 'copy', '--from', pooled, '--to', 'file:copy.db']]) {
        const run = runProgram({ env, arguments: words })
        expect(await run.ended).not.toBe(0)
        expect(run.stdout + run.stderr).toMatch(refusal)
      }
      const doctor = runProgram({ env, arguments: ['doctor'] })
      expect(await doctor.ended).not.toBe(0)
      expect(doctor.stdout).toContain('a pooler shares its connections between sessions')
      expect(await query(direct, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'")).toEqual([])
      // The refused sessions have changed no setting of the shared connections.
      expect(await query(pooled, "SELECT current_setting('lock_timeout') AS timeout")).toEqual([{ timeout: '0' }])
    },
  )

  test.for([
    { busy: 5, server_round_robin: '0' },
    { busy: 30, server_round_robin: '0' },
    { busy: 0, server_round_robin: '1' },
    { busy: 5, server_round_robin: '1' },
  ])(
    'transaction mode is noticed beside $busy other clients (round robin: $server_round_robin)',
    async ({ busy, ...settings }) => {
      const { pooled } = await start({ pool_mode: 'transaction', ...settings })
      const others = await keepBusy(pooled, busy)
      for (let attempt = 0; attempt < 5; attempt++) await expect(connectClient(pooled)).rejects.toThrow(refusal)
      await others.stop()
    },
  )

  test('session mode is accepted while its pool has one connection left', async () => {
    const { pooled } = await start({ pool_mode: 'session', default_pool_size: '1' })
    const client = await connectClient(pooled)
    expect(await readTimeout(client)).toBe('2s')
    await client.end()
  })

  test('a pool that changes to transaction mode while the service runs is named in the log', async () => {
    const { pooled, bouncer } = await start({ pool_mode: 'session' })
    const { rest, log } = await startTestApi({ store: await postgresDatabase(pooled).open() })
    expect((await rest.get('/v1/pets')).status).toBe(200)
    await bouncer.configure({ pool_mode: 'transaction' })
    async function use(): Promise<string> {
      await Promise.all(['', '?status=sold', '/1', '?limit=3'].map((path) => rest.get(`/v1/pets${path}`)))
      await bouncer.command('RECONNECT')
      return log.join('')
    }
    await expect.poll(use).toContain('a pooler shares its connections between sessions')
  })
}

async function start(settings: Record<string, string>) {
  const direct = await emptyDatabase()
  const bouncer = await startPgBouncer(direct, settings)
  onTestFinished(() => bouncer.stop())
  return { direct, pooled: bouncer.url(direct), bouncer }
}

async function readTimeout(client: Client): Promise<unknown> {
  const { rows } = await client.query("SELECT current_setting('lock_timeout') AS timeout")
  return rows[0]?.timeout
}

/** Clients that use PgBouncer all the time, as those of other programs do. */
async function keepBusy(url: string, count: number) {
  let isStopping = false
  async function use(): Promise<void> {
    const client = new Client({ connectionString: url })
    await client.connect()
    while (!isStopping) await client.query('SELECT pg_sleep(0.002)')
    await client.end()
  }
  const all = Promise.all(Array.from({ length: count }, use))
  return {
    async stop() {
      isStopping = true
      await all
    },
  }
}
