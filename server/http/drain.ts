import type { Server, Socket } from 'node:net'
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'

declare module 'fastify' {
  interface FastifyInstance {
    /** Whether the service is about to stop. */
    isDraining: boolean
  }
}

/** Grace period in milliseconds for the first request on a new connection. */
const arrivalTime = 300
/** Milliseconds. */
const maxClosingTime = 500
const shortTurn = 0.5

/** Lets the service send its callers elsewhere before it stops: while it drains, each answer ends its connection. */
export function makeDrainable(app: FastifyInstance): void {
  app.decorate('isDraining', false)
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (app.isDraining) reply.header('connection', 'close')
    done(null, payload)
  })

  // Node waits for connections on which nothing was ever asked.
  const unused = new Set<Socket>()
  app.server.on('connection', (socket: Socket) => {
    unused.add(socket)
    socket.once('close', () => unused.delete(socket))
  })
  app.server.on('request', ({ socket }) => void unused.delete(socket))
  app.addHook('preClose', async () => {
    await closeListener(app.server)
    setTimeout(() => unused.forEach((socket) => void socket.destroy()), arrivalTime)
  })
}

/**
 * Stops listening right after a short turn of the event loop that found no connection to accept: the kernel resets those
 * that are left in its queue, and Node accepts one in a turn. New connections are not read meanwhile, so that the turns
 * become short and accepting is faster than arrival.
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
  server.close()
  for (const socket of accepted) socket.resume()
}

/**
 * Ends the connections one by one, each with its next answer, while new ones are still taken: for as long as a balancer
 * needs to notice, or a successor on the same port to be the only one.
 */
export async function drain(app: FastifyInstance, milliseconds: number): Promise<void> {
  app.isDraining = true
  await wait(milliseconds)
}
