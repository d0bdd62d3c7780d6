import { setTimeout as wait } from 'node:timers/promises'
import httpProxy from '@fastify/http-proxy'
import fastify from 'fastify'
import { onTestFinished } from 'vitest'

export interface Balancer {
  url: string
  /** Adds an instance to the rotation. */
  add(instance: string): void
  /** Sends the instance no further requests. Running requests finish. */
  remove(instance: string): void
}

/** Milliseconds between two health checks of an unreachable instance. */
const interval = 100

/**
 * Distributes requests among instances (round robin) and sends each one once. An instance that is unreachable, or
 * that breaks a connection, gets no requests until it responds again. The client gets a 503 on its open connection, and
 * the request may have succeeded. If the response has already begun, the connection of the client is closed.
 */
export async function startBalancer(): Promise<Balancer> {
  const instances = new Set<string>()
  /** The instances that are up, beginning with the next one. */
  const rotation: string[] = []
  const chosen = new WeakMap<object, string>()

  function leaveRotation(instance: string): void {
    if (rotation.includes(instance)) rotation.splice(rotation.indexOf(instance), 1)
  }
  async function suspend(instance: string): Promise<void> {
    if (!rotation.includes(instance)) return
    leaveRotation(instance)
    while (instances.has(instance)) {
      await wait(interval)
      if (await isAlive(instance)) break
    }
    if (instances.has(instance)) rotation.push(instance)
  }

  const app = fastify({ forceCloseConnections: true })
  app.setErrorHandler<Error>(({ message }, request, reply) => {
    void suspend(chosen.get(request) ?? '')
    return reply.code(503).header('retry-after', '1').send({ code: 'balancer', message })
  })
  await app.register(httpProxy, {
    upstream: '',
    // By default, the proxy would retry a GET after a 503.
    retryMethods: [],
    destroyAgent: true,
    preHandler(request, _reply, done) {
      const instance = rotation.shift()
      if (instance === undefined) return done(new Error('No instance is up.'))
      rotation.push(instance)
      chosen.set(request, instance)
      done()
    },
    replyOptions: { getUpstream: (request) => chosen.get(request) ?? '' },
  })
  onTestFinished(async () => {
    instances.clear()
    await app.close()
  })
  return {
    url: await app.listen({ host: '127.0.0.1', port: 0 }),
    add(instance) {
      instances.add(instance)
      rotation.push(instance)
    },
    remove(instance) {
      instances.delete(instance)
      leaveRotation(instance)
    },
  }
}

/** Checks /livez. Without the database, no instance is ready, but clients must receive the 503 of the instances. */
async function isAlive(instance: string): Promise<boolean> {
  const response = await fetch(`${instance}/livez`).catch(() => undefined)
  return response?.ok ?? false
}
