import type { FastifyReply, FastifyRequest } from 'fastify'
import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible'
import { ApiError } from '../errors.ts'
import { checkedApiKey } from './bearer.ts'

export interface Rate {
  requests: number
  /** The length of the window in which they are counted. */
  seconds: number
}

type Check = (request: FastifyRequest, reply: FastifyReply) => Promise<void>

/**
 * Puts a rate limit around the check of the API key: so many calls for each key, and as many failed sign-ins for each
 * address. Whoever signs in with a good key does not pay for the failures of others behind the same address.
 */
export function withRateLimit(rate: Rate, check: Check): Check {
  const countCalls = counter('calls', rate)
  const countFailures = counter('failed-sign-ins', rate)

  return async function checkWithinRate(request, reply) {
    try {
      await check(request, reply)
    } catch (error) {
      if (error instanceof ApiError && error.body.code === 'unauthorized') await countFailures(request.ip, 1, reply)
      throw error
    }
    await countCalls(String(checkedApiKey(request).id), callsIn(request), reply)
  }
}

/** Each call of an RPC batch counts. */
function callsIn({ params }: FastifyRequest): number {
  const { path } = params as { path?: string }
  return path?.split(',').length ?? 1
}

/**
 * Makes a counter for one purpose, whose state it tells in the `RateLimit` and `RateLimit-Policy` fields
 * (draft-ietf-httpapi-ratelimit-headers).
 */
function counter(name: string, { requests, seconds }: Rate) {
  const limiter = new RateLimiterMemory({ points: requests, duration: seconds })

  return async function count(subject: string, calls: number, reply: FastifyReply): Promise<void> {
    const state = await limiter.consume(subject, calls).catch((refusal: RateLimiterRes) => refusal)
    const wait = Math.ceil(state.msBeforeNext / 1_000)
    reply.header('ratelimit-policy', `"${name}";q=${requests};w=${seconds}`)
    reply.header('ratelimit', `"${name}";r=${state.remainingPoints};t=${wait}`)
    if (state.consumedPoints > requests) {
      throw new ApiError(
        'rate_limited',
        `More than ${requests} ${name.replaceAll('-', ' ')} in ${seconds} s. Wait ${wait} s.`,
        {
          headers: { 'retry-after': String(wait) },
        },
      )
    }
  }
}
