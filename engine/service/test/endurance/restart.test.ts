import { setPriority } from 'node:os'
import { expect, onTestFinished, test } from 'vitest'
import { startLoad, startServer, startWithKey, storedTexts } from '../../../test/notes/fixtures.ts'
import { freePort } from '../../../test/support/free-port.ts'
import { callers } from '../../../test/support/load-without-retries.ts'
import { isLongForm, report } from '../../../test/support/long-form.ts'
import { stopService } from '../../../test/support/process.ts'

const restarts = isLongForm ? 5 : 2
const requestsBetween = isLongForm ? 20_000 : 2_000

// Only Linux distributes the connections to a port among several processes.
if (process.platform === 'linux') {
  test(`no request fails while ${restarts} successors take over the port under load`, async () => {
    const env = { PORT: String(await freePort()), REUSE_PORT: 'true' }
    const { server: first, folder, key } = await startWithKey(env)
    let server = first
    const load = startLoad(server.url, key)

    // The drain closes the connection of a caller that a busy machine does not run for half a second.
    try {
      setPriority(-15)
      onTestFinished(() => setPriority(0))
    } catch {
      // Not every user may do this.
    }
    for (let round = 1; round <= restarts; round++) {
      await load.reach(round * requestsBetween)
      const successor = await startServer({ folder, env })
      await stopService(server)
      server = successor
    }
    await load.reach((restarts + 1) * requestsBetween)
    await load.stop()

    expect(load.failures).toEqual([])
    // The kernel resets few new connections to a listener that closes. A quarter of the callers opens one for each request.
    expect(load.resets).toBeLessThanOrEqual(Math.ceil(callers / 4) * restarts)
    await stopService(server)
    expect(storedTexts(folder)).toEqual(load.acknowledged.toSorted())
    const { requests, resets, acknowledged } = load
    report('Rolling restarts', { restarts, requests, notes: acknowledged.length, resets })
  }, 600_000)
}
