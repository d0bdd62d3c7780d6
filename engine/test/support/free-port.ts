import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * Returns a free port that no other test gets while this process runs. It is below 32768: a system gives higher ports to
 * outgoing connections and to servers on port 0, also between the check and the use (RFC 6335: from 49152 on; Linux: from
 * 32768 on). Browsers refuse 10080.
 */
export async function freePort(): Promise<number> {
  const port = randomInt(10_200, 32_200)
  const probe = createServer()
  try {
    // A name of Linux, which ends with this process. Runs at the same time share the ports of the machine.
    if (process.platform === 'linux') await once(createServer().listen(`\0tests-port-${port}`).unref(), 'listening')
    await once(probe.listen({ port, host: '127.0.0.1' }), 'listening')
  } catch {
    return freePort()
  }
  probe.close()
  await once(probe, 'close')
  return port
}
