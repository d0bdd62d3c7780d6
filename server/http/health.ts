import type { FastifyInstance } from 'fastify'
import type { Store } from '../../db/store.ts'
import { temporarilyUnavailable } from '../api/errors.ts'
import { labelRoutes } from './request-labels.ts'
import { handleOtherMethods } from './routing.ts'

/** Milliseconds. */
const maxCheckTime = 900
const minInterval = 1_000

/** Rejects unless the service can do its work, including a durable write. */
export type CheckReadiness = () => Promise<void>

export function readinessCheck(app: FastifyInstance, store: Store): CheckReadiness {
  // Each check writes to the disk.
  const check = atMostOnceASecond(() => withinTime(store.check()))
  return async () => {
    if (app.isDraining) throw temporarilyUnavailable('The service is stopping.')
    await check()
  }
}

/**
 * Health checks for supervisors and load balancers, without an API key. `/livez` responds 200 while the process runs,
 * `/readyz` while the service is ready.
 */
export async function health(app: FastifyInstance, { check }: { check: CheckReadiness }): Promise<void> {
  labelRoutes(app, 'health')

  app.get('/livez', async () => ({ status: 'ok' }))
  handleOtherMethods(app, '/livez', ['GET', 'HEAD'])

  app.get('/readyz', async () => {
    await check()
    return { status: 'ready' }
  })
  handleOtherMethods(app, '/readyz', ['GET', 'HEAD'])
}

/** All calls within a second share one result. */
export function atMostOnceASecond<Result>(call: () => Promise<Result>): () => Promise<Result> {
  let latest: Promise<Result> | undefined
  let startedAt = 0
  return () => {
    if (!latest || performance.now() - startedAt >= minInterval) {
      startedAt = performance.now()
      latest = call()
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
