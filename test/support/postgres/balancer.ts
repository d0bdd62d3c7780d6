import { setTimeout as wait } from 'node:timers/promises'
import httpProxy from '@fastify/http-proxy'
import fastify from 'fastify'
import { onTestFinished } from 'vitest'

export interface Balancer {
  url: string
  /** From now on the instance has its turns. */
  add(instance: string): void
  /** It gets no request any more; those that it has are finished. */
  remove(instance: string): void
}

/** Milliseconds between two looks at an instance that was not to be reached. */
const interval = 100

/**
 * Shares requests out among instances in turn, and sends each of them once. An instance that cannot be reached, or breaks
 * off, has no turn until it answers again. Its callers get a 503, with which they keep their connection, and which says
 * all that is known here: the work may be done or not. Once an answer has begun, their connection is closed instead.
 */
export async function startBalancer(): Promise<Balancer> {
  const instances = new Set<string>()
  /** Of those that are up, the next one first. */
  const turns: string[] = []
  const chosen = new WeakMap<object, string>()

  function loseTurns(instance: string): void {
    if (turns.includes(instance)) turns.splice(turns.indexOf(instance), 1)
  }
  async function suspend(instance: string): Promise<void> {
    if (!turns.includes(instance)) return
    loseTurns(instance)
    while (instances.has(instance)) {
      await wait(interval)
      if (await isAlive(instance)) break
    }
    if (instances.has(instance)) turns.push(instance)
  }

  const app = fastify({ forceCloseConnections: true })
  app.setErrorHandler<Error>(({ message }, request, reply) => {
    void suspend(chosen.get(request) ?? '')
    return reply.code(503).header('retry-after', '1').send({ code: 'balancer', message })
  })
  await app.register(httpProxy, {
    upstream: '',
    // By default a GET that is answered with 503 would be repeated here.
    retryMethods: [],
    destroyAgent: true,
    preHandler(request, _reply, done) {
      const instance = turns.shift()
      if (instance === undefined) return done(new Error('No instance is up.'))
      turns.push(instance)
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
      turns.push(instance)
    },
    remove(instance) {
      instances.delete(instance)
      loseTurns(instance)
    },
  }
}

/** Not whether it is ready: without the database none is, and what they say of that is to reach the callers. */
async function isAlive(instance: string): Promise<boolean> {
  const answer = await fetch(`${instance}/livez`).catch(() => undefined)
  return answer?.ok ?? false
}
