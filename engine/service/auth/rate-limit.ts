import type { FastifyInstance, FastifyReply, onRequestHookHandler } from 'fastify'
import { ApiError } from '../api/errors.ts'
import { callsOf } from '../http/request.ts'
import { requireApiKey } from '../procedures/access.ts'
import type { RateLimitState } from '../procedures/trpc.ts'

declare module 'fastify' {
  interface FastifyRequest {
    rateLimit: RateLimitState | undefined
  }
}

export interface Rate {
  requests: number
  /** Length of the window. */
  seconds: number
}

/** Adds a rate limit to the check of the API key: it limits the calls of each key. */
export function withRateLimit(app: FastifyInstance, rate: Rate, check: onRequestHookHandler): onRequestHookHandler {
  app.decorateRequest('rateLimit', undefined)
  const count = counter(rate)

  return function checkWithinRate(request, reply, done) {
    check.call(request.server, request, reply, (error) => {
      done(error ?? count(requireApiKey(request).id, callsOf(request), reply))
    })
  }
}

/**
 * Makes a fixed-window counter. It reports its state in the `RateLimit` and `RateLimit-Policy` fields
 * (draft-ietf-httpapi-ratelimit-headers), and returns an error if it refuses the calls. Refused calls are not charged. A
 * batch is charged at most the limit, because a larger one would never pass.
 */
function counter({ requests, seconds }: Rate) {
  /** The windows by the ids of their keys. All have one length, so the first to start is the first to end. */
  const windows = new Map<bigint, { used: number; end: number }>()

  return function count(key: bigint, calls: number, reply: FastifyReply): ApiError | undefined {
    // Whole milliseconds, because otherwise the wait could be rounded up beyond the length of the window.
    const now = Math.floor(performance.now())
    for (const [ended, { end }] of windows) {
      if (end > now) break
      windows.delete(ended)
    }
    const window = windows.get(key) ?? { used: 0, end: now + seconds * 1_000 }
    windows.set(key, window)
    const charge = Math.min(calls, requests)
    const isRefused = window.used + charge > requests
    if (!isRefused) window.used += charge
    const remaining = requests - window.used
    const wait = Math.ceil((window.end - now) / 1_000)
    reply.request.rateLimit = { calls: requests, seconds, remaining, resetsIn: wait }
    reply.header('ratelimit-policy', `"calls";q=${requests};w=${seconds}`)
    reply.header('ratelimit', `"calls";r=${remaining};t=${wait}`)
    if (!isRefused) return undefined
    return new ApiError('rate_limited', `More than ${requests} calls in ${seconds} s. Wait ${wait} s.`, {
      headers: { 'retry-after': String(wait) },
      rejection: { reason: 'rate_limited' },
    })
  }
}
