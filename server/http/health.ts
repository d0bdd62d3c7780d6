import { setTimeout as wait } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { type Store, StoreUnavailable } from '../../db/store.ts'
import { ApiError } from '../api/errors.ts'
import { answerOtherMethods } from './methods.ts'

/** Milliseconds. */
const longestCheck = 900
const shortestInterval = 1_000

/**
 * For whoever keeps the service running: `/livez` says that the process answers, `/readyz` that it can do its work, a
 * durable write included. Neither needs a key, and neither tells anything else.
 */
export async function health(app: FastifyInstance, { store }: { store: Store }): Promise<void> {
  const check = seldom(() => withinTime(store.check()))

  // Asked every few seconds, and of no interest in the log.
  const options = { logLevel: 'warn' } as const
  app.get('/livez', options, async () => ({ status: 'ok' }))
  answerOtherMethods(app, '/livez', ['GET', 'HEAD'])

  app.get('/readyz', options, async () => {
    if (app.isDraining)
      throw new ApiError('unavailable', 'The service is stopping.', { headers: { 'retry-after': '1' } })
    await check()
    return { status: 'ready' }
  })
  answerOtherMethods(app, '/readyz', ['GET', 'HEAD'])
}

/** Callers share one check a second, so that none of them can keep the disk busy. */
function seldom(check: () => Promise<void>): () => Promise<void> {
  let latest: Promise<void> | undefined
  let startedAt = 0
  return () => {
    if (!latest || performance.now() - startedAt >= shortestInterval) {
      startedAt = performance.now()
      latest = check()
    }
    return latest
  }
}

async function withinTime(check: Promise<void>): Promise<void> {
  const timer = new AbortController()
  const late = wait(longestCheck, undefined, { signal: timer.signal }).then(() => {
    throw new StoreUnavailable('The store took too long to answer.')
  })
  try {
    await Promise.race([check, late])
  } finally {
    timer.abort()
    late.catch(() => {})
    check.catch(() => {})
  }
}
