import type { Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'

declare module 'fastify' {
  interface FastifyInstance {
    /** Whether the service is about to stop. */
    isDraining: boolean
  }
}

/** For how long, in milliseconds, the request may be on its way for which a connection was opened. */
const arrivalTime = 300

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
    setTimeout(() => unused.forEach((socket) => void socket.destroy()), arrivalTime)
  })
}

/**
 * Ends the connections one by one, each with its next answer, while new ones are still taken: for as long as a balancer
 * needs to notice, or a successor on the same port to be the only one.
 */
export async function drain(app: FastifyInstance, milliseconds: number): Promise<void> {
  app.isDraining = true
  await wait(milliseconds)
}
