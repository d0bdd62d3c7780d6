import { setTimeout as wait } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { BaseStore } from '#store'
import { ApiError, dataUnavailable, messageForOperator, temporarilyUnavailable, toApiError } from '../api/errors.ts'
import { labelRoutes } from './request.ts'
import { serveReads } from './routing.ts'

/** Milliseconds. */
const minInterval = 1_000

/** Rejects unless the service can do its work, including a durable write. */
export type CheckReadiness = () => Promise<void>

/** @param timeLimit milliseconds for a check */
export function readinessCheck(app: FastifyInstance, store: BaseStore, timeLimit = 900): CheckReadiness {
  // Each check writes to the disk.
  const check = atMostOnceASecond(reportChanges(app, () => withinTime(store.check(), timeLimit)))
  return async () => {
    if (app.isDraining) throw temporarilyUnavailable('The service is stopping.')
    try {
      await check()
    } catch (error) {
      // Without the cause, because a line about each probe would say the same as the line about the change.
      const { body, headers } = toApiError(error)
      throw new ApiError('unavailable', body.message, { headers })
    }
  }
}

/** Logs when a check finds that the service is not ready, each reason once, and when one finds it ready again. */
function reportChanges(app: FastifyInstance, check: () => Promise<void>): () => Promise<void> {
  let lostAt = 0
  const reasons = new Set<string>()

  function lose(error: ApiError): void {
    const reason = messageForOperator(error)
    if (reasons.has(reason) || app.isDraining) return
    if (reasons.size === 0) lostAt = performance.now()
    reasons.add(reason)
    // The message says everything about a failure of the database. A defect needs its stack.
    const fields = error.body.code === 'unavailable' ? {} : { err: error.cause }
    app.log.error(fields, `The service is not ready. ${reason}`)
  }

  return async () => {
    try {
      await check()
    } catch (error) {
      lose(toApiError(error))
      throw error
    }
    if (reasons.size === 0) return
    reasons.clear()
    app.log.warn(`The service is ready again, after ${Math.round((performance.now() - lostAt) / 100) / 10} s.`)
  }
}

/** Without an API key: `/livez` responds 200 while the process runs, `/readyz` while the service is ready. */
export async function health(app: FastifyInstance, { check }: { check: CheckReadiness }): Promise<void> {
  labelRoutes(app, 'health')
  serveReads(app, '/livez', async () => ({ status: 'ok' }))
  serveReads(app, '/readyz', async () => {
    await check()
    return { status: 'ready' }
  })
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

async function withinTime(check: Promise<void>, limit: number): Promise<void> {
  const isLate = await Promise.race([check, wait(limit, true, { ref: false })])
  if (!isLate) return
  const problem = `The database did not complete a check within ${limit} ms. Check the load of the machine, the disk and the database.`
  throw dataUnavailable(new Error(problem))
}
