import { isIPv4 } from 'node:net'
import type { FastifyReply, onRequestHookHandler } from 'fastify'
import { ApiError } from '../api/errors.ts'
import { clientAddressOf } from '../http/request.ts'
import type { RateLimitState } from '../trpc/trpc.ts'
import { requireApiKey } from './bearer.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The number of calls that a request of the route makes; 1 by default. */
    calls?: (request: FastifyRequest) => number
  }
  interface FastifyRequest {
    /** The state of the limit after the request. Without a limit, it is undefined. */
    rateLimit: RateLimitState | undefined
  }
}

export interface Rate {
  requests: number
  /** Length of the window. */
  seconds: number
}

/** Addresses with a count of their own. A count takes about 150 bytes. */
const maxAddresses = 10_000

/**
 * Adds a rate limit to the check of the API key: it limits the calls of each key, and the failed sign-ins from each address.
 * Failed sign-ins from an address do not count against valid keys that are used from the same address.
 */
export function withRateLimit(rate: Rate, check: onRequestHookHandler): onRequestHookHandler {
  // Needs no maximum, because only valid keys are counted.
  const countCalls = counter('calls', rate)
  const countFailures = counter('failed-sign-ins', rate, maxAddresses)

  return function checkWithinRate(request, reply, done) {
    check.call(request.server, request, reply, (error) => {
      const isRejected = error instanceof ApiError && error.body.code === 'unauthorized'
      if (isRejected)
        return done(countFailures(networkOf(clientAddressOf(request)), 1, reply, error.rejection?.keyStart) ?? error)
      const calls = request.routeOptions.config.calls?.(request) ?? 1
      done(error ?? countCalls(String(requireApiKey(request).id), calls, reply))
    })
  }
}

/** The /64 of an IPv6 address, because one host can use every address of its /64. IPv4 addresses are counted one by one. */
function networkOf(address: string | undefined): string {
  if (address === undefined) return 'unknown'
  if (isIPv4(address)) return networkOf(`::ffff:${address}`)
  const groups = groupsOf(address)
  const isIPv4Mapped = groups.slice(0, 6).join(':') === '0:0:0:0:0:ffff'
  return groups.slice(0, isIPv4Mapped ? 8 : 4).join(':')
}

/** The eight groups of an IPv6 address, in the spelling of RFC 5952. */
function groupsOf(address: string): string[] {
  const { hostname } = new URL(`http://[${address}]`)
  const [left = [], right = []] = hostname
    .slice(1, -1)
    .split('::')
    .map((half) => half.split(':').filter(Boolean))
  return [...left, ...Array<string>(8 - left.length - right.length).fill('0'), ...right]
}

interface Window {
  used: number
  /** By the monotonic clock, in milliseconds. */
  end: number
}

/**
 * Makes a fixed-window counter for one purpose. It reports its state in the `RateLimit` and `RateLimit-Policy` fields
 * (draft-ietf-httpapi-ratelimit-headers), and returns an error if it refuses the calls. Refused calls are not charged. A
 * batch is charged at most the limit, because a larger one would never pass.
 *
 * @param maxSubjects subjects with a count of their own. Further ones share one count until a window ends. If a count were
 * evicted instead, a client with many addresses could reset its own.
 */
function counter(name: string, { requests, seconds }: Rate, maxSubjects = Number.POSITIVE_INFINITY) {
  /** All windows have one length, so the first to start is the first to end. */
  const windows = new Map<string, Window>()

  function windowOf(subject: string, now: number): Window {
    for (const [ended, { end }] of windows) {
      if (end > now) break
      windows.delete(ended)
    }
    const key = windows.has(subject) || windows.size < maxSubjects ? subject : 'others'
    const window = windows.get(key) ?? { used: 0, end: now + seconds * 1_000 }
    windows.set(key, window)
    return window
  }

  return function count(subject: string, calls: number, reply: FastifyReply, keyStart?: string): ApiError | undefined {
    // Whole milliseconds, because otherwise the wait could be rounded up beyond the length of the window.
    const now = Math.floor(performance.now())
    const window = windowOf(subject, now)
    const charge = Math.min(calls, requests)
    const isRefused = window.used + charge > requests
    if (!isRefused) window.used += charge
    const remaining = requests - window.used
    const wait = Math.ceil((window.end - now) / 1_000)
    reply.request.rateLimit = { calls: requests, seconds, remaining, resetsIn: wait }
    reply.header('ratelimit-policy', `"${name}";q=${requests};w=${seconds}`)
    reply.header('ratelimit', `"${name}";r=${remaining};t=${wait}`)
    if (!isRefused) return undefined
    return new ApiError(
      'rate_limited',
      `More than ${requests} ${name.replaceAll('-', ' ')} in ${seconds} s. Wait ${wait} s.`,
      { headers: { 'retry-after': String(wait) }, rejection: { reason: 'rate_limited', keyStart } },
    )
  }
}
