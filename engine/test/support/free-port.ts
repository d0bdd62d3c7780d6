import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * The first port of each worker of Vitest: below the ports that Linux (32768 and up) and RFC 6335 (49152 and up) give
 * to connections and to servers that ask for any port, which would take one between the check and its use.
 */
const portsPerWorker = 2_000
const firstPort = 10_000 + (Number(process.env.VITEST_POOL_ID ?? 0) % 11) * portsPerWorker

/** Returns a port that was free when it was checked, and that no other worker checks. */
export async function freePort(): Promise<number> {
  const port = firstPort + randomInt(portsPerWorker)
  const probe = createServer()
  try {
    await once(probe.listen({ port, host: '127.0.0.1' }), 'listening')
  } catch {
    return freePort()
  }
  probe.close()
  await once(probe, 'close')
  return port
}
