import { Server, type Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { Connections } from './connections.ts'

declare module 'fastify' {
  interface FastifyInstance {
    isDraining: boolean
    connections: Connections
  }
}

/** Milliseconds. Grace period for the first request on a new connection. */
const firstRequestTime = 300
/** Milliseconds for which the listener may stay open to accept waiting connections. */
const maxClosingTime = 500
/** Turns for which it stays open in any case: a single one may take longer than that on a busy machine. */
const minClosingTurns = 32
/** Milliseconds. */
const shortTurn = 0.5

/** While the service drains, each response ends its connection. Clients then reconnect to another instance. */
export function makeDrainable(app: FastifyInstance, connections: Connections): void {
  app.decorate('connections', connections)
  app.decorate('isDraining', false)
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (app.isDraining) reply.header('connection', 'close')
    done(null, payload)
  })
  app.addHook('preClose', async () => {
    await closeListener(app.server)
    // Node's `server.close()` waits for connections without a request. Requests that arrived during a long turn are read before.
    const closeUnused = () => connections.close(({ isUnused }) => isUnused)
    setTimeout(() => setImmediate(closeUnused).unref(), firstRequestTime).unref()
  })
}

/**
 * Stops listening when no connection waits to be accepted, because the kernel resets those that wait. Node accepts one
 * connection in each turn of the event loop: a short turn without a new connection means that none waits. New
 * connections are not read meanwhile. This keeps turns short, and connections are accepted faster than they arrive.
 */
async function closeListener(server: Server): Promise<void> {
  const accepted: Socket[] = []
  const onConnection = (socket: Socket) => void accepted.push(socket.pause())
  server.on('connection', onConnection)
  const deadline = performance.now() + maxClosingTime
  let before: number
  let start: number
  let turns = 0
  await nextTurn()
  do {
    before = accepted.length
    start = performance.now()
    await nextTurn()
    turns++
  } while (
    (accepted.length > before || performance.now() - start > shortTurn) &&
    (turns < minClosingTurns || start < deadline)
  )
  server.off('connection', onConnection)
  // That of HTTP first destroys idle connections, whose clients connect again while the listener is still open.
  Server.prototype.close.call(server)
  for (const socket of accepted) socket.resume()
}
