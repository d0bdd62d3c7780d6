import { once } from 'node:events'
import { createServer } from 'node:net'

/** Returns a port that was free when it was checked. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen({ port: 0, host: '127.0.0.1' })
  await once(probe, 'listening')
  const address = probe.address()
  probe.close()
  await once(probe, 'close')
  if (typeof address !== 'object' || !address) throw new Error('A TCP server has a port.')
  return address.port
}
