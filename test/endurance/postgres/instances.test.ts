import { expect, onTestFinished, test } from 'vitest'
import type { Caller } from '../../../engine/test/support/changes.ts'
import { freePort } from '../../../engine/test/support/free-port.ts'
import { logLinesIn } from '../../../engine/test/support/log-lines.ts'
import { isLongForm, report } from '../../../engine/test/support/long-form.ts'
import { query } from '../../../engine/test/support/postgres/databases.ts'
import { startPostgres } from '../../../engine/test/support/postgres/server.ts'
import { type Server, stopService } from '../../../engine/test/support/process.ts'
import { connectRestClient } from '../../../engine/test/support/rest-client.ts'
import { changedRows, expectAsAcknowledged, mintApiKey, startChanges, startServer } from '../../support/petstore.ts'

const rounds = isLongForm ? 10 : 1
const callsBetween = isLongForm ? 1_000 : 300

test('each pet is as acknowledged, exactly once, while instances are killed and stopped and their database restarts', async () => {
  const postgres = await startPostgres()
  onTestFinished(() => postgres.stop())
  const key = mintApiKey()
  const ports = [await freePort(), await freePort()] as const
  const env = { DATABASE_URL: postgres.url, PETSTORE_API_KEY: key }
  const start = (port: number) => startServer({ env: { ...env, PORT: String(port) } })
  let [first, second] = await Promise.all([start(ports[0]), start(ports[1])])
  const load = startChanges({ writers: 16, hasKeys: true, connect: () => connectToBoth(ports, key) })
  const more = () => expect.poll(() => load.calls).toBeGreaterThan(load.calls + callsBetween)

  for (let round = 1; round <= rounds; round++) {
    await more()
    first.child.kill('SIGKILL')
    await first.ended
    await more()
    first = await start(ports[0])
    await postgres.restart()
    await more()
    if (isLongForm) await postgres.crash()
    await more()
    await stopService(second)
    expect(faultsOf(second)).toEqual([])
    await more()
    second = await start(ports[1])
  }
  await load.stop()

  const figures = expectAsAcknowledged(load, await query(postgres.url, changedRows))
  expect(await query(postgres.url, 'SELECT key FROM idempotency_keys')).toHaveLength(load.calls)
  expect(load.replayed).toBeGreaterThan(0)
  expect(load.withoutRetryAfter).toBe(0)
  report('Instances that are killed and stopped', { rounds, ...figures })
}, 600_000)

/** A client that sends each request to both instances at once, and takes the response of one of them in turn. */
function connectToBoth(ports: readonly number[], key: string): Caller {
  const clients = ports.map((port) => connectRestClient(`http://127.0.0.1:${port}`, key))
  let turn = 0
  return {
    async post(...request) {
      const responses = await Promise.allSettled(clients.map((client) => client.post(...request)))
      const taken = responses[turn++ % responses.length]
      if (taken?.status !== 'fulfilled') throw new Error('The instance does not respond.')
      return taken.value
    },
  }
}

/** The logged errors, except those about the database, and the standard error output. */
function faultsOf({ stdout, stderr }: Server): string[] {
  const faults = logLinesIn(stdout).filter(({ level, msg, err }) => {
    const concernsDatabase = err?.type === 'StoreUnavailable' || /^The service is not ready. The database /.test(msg)
    return /^(?:error|fatal)$/.test(level) && !concernsDatabase
  })
  return [...faults.map((line) => JSON.stringify(line)), ...(stderr ? [stderr] : [])]
}
