import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isIP } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { temporarilyUnavailable } from '../api/errors.ts'

/** Whether a request changes nothing (RFC 9110, section 9.2.1). No path serves TRACE, the fourth such method. */
export function isSafeMethod(method: string | undefined): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS'
}

/** What a request asks for, for metrics. The values are constants of the code and never text of the caller. */
export interface RequestLabels {
  adapter: 'rest' | 'rpc' | 'http'
  /** The name of the procedure, for both adapters. */
  operation: string
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The labels of a route. Routes with the same labels share one object, or have one each. */
    labels?: RequestLabels | ((request: FastifyRequest) => RequestLabels)
    /** The procedures that a batch calls, for the log. A name that no procedure has is `unknown`. */
    procedures?: (request: FastifyRequest) => string[]
    /** The number of calls that a request makes; 1 by default. */
    calls?: (request: FastifyRequest) => number
  }
}

/** The labels of paths without a route, and of URLs that cannot be decoded. */
const unknownRequest: RequestLabels = { adapter: 'http', operation: 'unknown' }
/** The labels of OPTIONS, and of methods that a path does not serve. */
export const otherMethod: RequestLabels = { adapter: 'http', operation: 'other_method' }

/** Health checks and scrapes arrive every few seconds. They are not traced, and logged only if they are rejected. */
export function isProbe({ operation }: RequestLabels): boolean {
  return operation === 'health' || operation === 'metrics'
}

export function labelsOf(request: FastifyRequest): RequestLabels {
  const { labels = unknownRequest } = request.routeOptions.config
  return typeof labels === 'function' ? labels(request) : labels
}

export function callsOf(request: FastifyRequest): number {
  return request.routeOptions.config.calls?.(request) ?? 1
}

/** Labels the routes of this Fastify instance that have no labels of their own, by default with their URL. */
export function labelRoutes(app: FastifyInstance, operation?: string): void {
  app.addHook('onRoute', (route) => {
    route.config = { labels: { adapter: 'http', operation: operation ?? route.url }, ...route.config }
  })
}

/** Calls back once: when the response was sent completely, or when its connection was closed before. */
export function whenEnded(response: ServerResponse, callback: (isComplete: boolean) => void): void {
  let hasEnded = false
  const end = (isComplete: boolean) => {
    if (!hasEnded) callback(isComplete)
    hasEnded = true
  }
  // A response to a closed connection finishes, too. `once` would cost each request two microseconds.
  response.on('finish', () => end(!response.destroyed)).on('close', () => end(false))
}

/** A signal that is aborted when the connection is closed before the response was sent completely. */
export function signalOf(response: ServerResponse): AbortSignal {
  const controller = new AbortController()
  // Without a cause, the error is not logged.
  const stop = () => controller.abort(temporarilyUnavailable('The client has closed the connection.'))
  if (response.destroyed) stop()
  whenEnded(response, (isComplete) => isComplete || stop())
  return controller.signal
}

/** Safe in headers and logs. */
const valid = /^[\w.~+/=:-]{1,128}$/

export type RequestIdOf = (request: Pick<IncomingMessage, 'headers'>) => string

/**
 * Returns the function that finds the id of a request, again the same for further calls: the `X-Request-Id` of the request if
 * it has 1 to 128 characters of `A-Z a-z 0-9 . _ ~ + / = : -` and cannot contain a secret, otherwise a new UUID.
 */
export function requestIdsWithout(keyPrefix: string): RequestIdOf {
  const beginning = new RegExp(`${RegExp.escape(keyPrefix)}|bearer`, 'i')
  return ({ headers }) => {
    // Node joins repeated headers with a comma and a space, which are not valid.
    const given = headers['x-request-id']
    if (typeof given === 'string' && valid.test(given) && !beginning.test(given) && !hasSecretRun(given)) return given
    const id = randomUUID()
    headers['x-request-id'] = id
    return id
  }
}

/**
 * Whether a client may have sent the random part of an API key or another token in the wrong header: letters of both cases
 * in a row as long as that part. Common ids (UUIDs, hashes, W3C trace ids) have one case.
 */
function hasSecretRun(id: string): boolean {
  const runs = id.split(/[^0-9A-Za-z]/)
  return runs.some((run) => run.length >= 32 && /[a-z]/.test(run) && /[A-Z]/.test(run))
}

/** Brackets are for IPv6 addresses (RFC 3986, section 3.2.2). */
const withPort = /^(?:\[([\da-fA-F:.]+)\]|([\d.]+))(?::\d{1,5})?$/

/**
 * The IP address of the client: the one that a trusted proxy reports in `X-Forwarded-For`, where some proxies add a port and
 * brackets, otherwise that of the connection. Undefined if the client had reset the connection before the service accepted
 * it. Without this function, any text that a client sends in that header would be logged.
 */
export function clientAddressOf({ ip, socket }: Pick<FastifyRequest, 'ip' | 'socket'>): string | undefined {
  // Fastify's type says that it is always a string.
  const reported: string | undefined = ip
  const [, ipv6, ipv4] = withPort.exec(reported ?? '') ?? []
  const address = [reported, ipv6, ipv4].find((candidate = '') => isIP(candidate) !== 0) ?? socket.remoteAddress
  // The zone of a link-local address (RFC 4007) means something only on its own machine.
  return address?.replace(/%.*/, '')
}
