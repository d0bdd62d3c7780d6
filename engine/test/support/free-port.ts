import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

const portsPerWorker = 2_000
/**
 * Each worker of Vitest has a range of its own. All are below 32768: a system gives higher ports to outgoing connections
 * and to servers on port 0, also between the check and the use (RFC 6335: from 49152 on; Linux: from 32768 on). Browsers
 * refuse 10080.
 */
const firstPort = 10_200 + (Number(process.env.VITEST_POOL_ID ?? 0) % 11) * portsPerWorker

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
