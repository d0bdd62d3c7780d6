import type { FastifyInstance } from 'fastify'
import type { Store } from '../../db/store.ts'
import { temporarilyUnavailable } from '../api/errors.ts'
import { handleOtherMethods } from './routing.ts'

/** Milliseconds. */
const maxCheckTime = 900
const minInterval = 1_000

/**
 * Health checks for supervisors and load balancers, without an API key. `/livez` responds 200 while the process runs,
 * `/readyz` while the service can do its work, including a durable write.
 */
export async function health(app: FastifyInstance, { store }: { store: Store }): Promise<void> {
  const check = atMostOnceASecond(() => withinTime(store.check()))

  // Health checks arrive every few seconds and are not logged.
  const options = { logLevel: 'warn' } as const
  app.get('/livez', options, async () => ({ status: 'ok' }))
  handleOtherMethods(app, '/livez', ['GET', 'HEAD'])

  app.get('/readyz', options, async () => {
    if (app.isDraining) throw temporarilyUnavailable('The service is stopping.')
    await check()
    return { status: 'ready' }
  })
  handleOtherMethods(app, '/readyz', ['GET', 'HEAD'])
}

/** Callers share one check a second, because each check writes to the disk. */
function atMostOnceASecond(check: () => Promise<void>): () => Promise<void> {
  let latest: Promise<void> | undefined
  let startedAt = 0
  return () => {
    if (!latest || performance.now() - startedAt >= minInterval) {
      startedAt = performance.now()
      latest = check()
    }
    return latest
  }
}

async function withinTime(check: Promise<void>): Promise<void> {
  const { promise: timeout, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    const cause = new Error(`The store did not complete its check within ${maxCheckTime} ms.`)
    reject(temporarilyUnavailable('The service cannot reach its data at the moment. Try again shortly.', cause))
  }, maxCheckTime)
  await Promise.race([check, timeout]).finally(() => clearTimeout(timer))
}
