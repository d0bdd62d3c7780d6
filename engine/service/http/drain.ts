import type { IncomingMessage, ServerResponse } from 'node:http'
import { Server, type Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { isSafeMethod } from '../api/method.ts'

declare module 'fastify' {
  interface FastifyInstance {
    isDraining: boolean
    /** Closes the connections without a write in progress. The client of a write waits to learn whether it is stored. */
    closeReaders(): void
  }
}

/** Milliseconds. Grace period for the first request on a new connection. */
const firstRequestTime = 300
/** Milliseconds for which the listener may stay open to accept waiting connections. */
const maxClosingTime = 500
/** Milliseconds. */
const shortTurn = 0.5

/** While the service drains, each response ends its connection. Clients then reconnect to another instance. */
export function makeDrainable(app: FastifyInstance): void {
  app.decorate('isDraining', false)
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (app.isDraining) reply.header('connection', 'close')
    done(null, payload)
  })

  // Node's server.close() waits for connections without any request.
  const unused = new Set<Socket>()
  const open = new Set<Socket>()
  app.server.on('connection', (socket: Socket) => {
    unused.add(socket)
    open.add(socket)
    socket.once('close', () => {
      unused.delete(socket)
      open.delete(socket)
    })
  })
  const writes = new Set<IncomingMessage>()
  app.server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    unused.delete(request.socket)
    if (isSafeMethod(request.method)) return
    writes.add(request)
    response.once('close', () => writes.delete(request))
  })
  app.decorate('closeReaders', () => {
    const writing = new Set(Array.from(writes, ({ socket }) => socket))
    for (const socket of open) if (!writing.has(socket)) socket.destroy()
  })
  app.addHook('preClose', async () => {
    await closeListener(app.server)
    // Requests that arrived during a long turn are read before the connections without one are closed.
    const closeUnused = () => setImmediate(() => unused.forEach((socket) => void socket.destroy())).unref()
    setTimeout(closeUnused, firstRequestTime).unref()
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
  await nextTurn()
  do {
    before = accepted.length
    start = performance.now()
    await nextTurn()
  } while ((accepted.length > before || performance.now() - start > shortTurn) && start < deadline)
  server.off('connection', onConnection)
  // That of HTTP first destroys idle connections, whose clients connect again while the listener is still open.
  Server.prototype.close.call(server)
  for (const socket of accepted) socket.resume()
}
