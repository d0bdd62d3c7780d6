import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { freePort } from '../free-port.ts'

export interface Proxy {
  /** The URL of the database through the proxy. */
  url: string
  /** Breaks all connections and refuses new ones. */
  refuse(): Promise<void>
  /** Drops all traffic without closing the connections. */
  silence(): Promise<void>
  /** Accepts and forwards new connections again. */
  resume(): Promise<void>
  /** Forwards new connections to another server. Those that are open stay. */
  switchTo(server: URL): void
}

/** Starts a TCP proxy between the service and its database. It simulates network faults. */
export async function startProxy(first: URL): Promise<Proxy> {
  const port = await freePort()
  let target = first
  const sockets = new Set<Socket>()
  let isSilent = false

  // A silent server does not even close what its client has closed.
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const far = connect(Number(target.port), target.hostname)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('data', (chunk) => void (isSilent || to.write(chunk)))
      from.on('end', () => void (isSilent || to.end()))
      from.on('error', () => {})
      from.on('close', () => {
        sockets.delete(from)
        if (!isSilent) to.destroy()
      })
    }
  })

  async function listen(): Promise<void> {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
  }

  async function refuse(): Promise<void> {
    const closed = server.listening ? once(server.close(), 'close') : undefined
    for (const socket of sockets) socket.destroy()
    await closed
  }

  await listen()
  onTestFinished(refuse)
  return {
    url: Object.assign(new URL(target), { port: String(port) }).href,
    refuse,
    async silence() {
      isSilent = true
    },
    async resume() {
      await refuse()
      isSilent = false
      await listen()
    },
    switchTo(server) {
      target = server
    },
  }
}
