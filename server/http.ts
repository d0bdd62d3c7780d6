import { createServer, type RequestListener, type Server } from 'node:http'
import type { Duplex } from 'node:stream'
import type { FastifyBaseLogger } from 'fastify'
import { ApiError } from './errors.ts'
import { hasClearFraming } from './framing.ts'
import { type Exchange, endConnection, hearOut } from './hang-up.ts'

/** What a request may take. Sizes in bytes, times in milliseconds. */
export const limits = {
  body: 64 * 1024,
  headers: 16 * 1024,
  url: 8 * 1024,
  headersTime: 5_000,
  requestTime: 10_000,
  /** For which nothing moves on a connection, though its answer is not through. */
  stallTime: 20_000,
  idleTime: 5_000,
}

/**
 * Node's HTTP server with limits on what it waits for, and with the Error body wherever Node would answer by itself:
 * bytes that are not HTTP, a request that arrives too slowly, an `Expect` other than 100-continue, `CONNECT`.
 * A client gets its answer also if it has closed its side, or still sends what nobody reads.
 *
 * @param headers The headers of every response.
 */
export function createHttpServer(
  listener: RequestListener,
  log: FastifyBaseLogger,
  headers: Record<string, string>,
): Server {
  const server = createServer({
    maxHeaderSize: limits.headers,
    headersTimeout: limits.headersTime,
    requestTimeout: limits.requestTime,
    keepAliveTimeout: limits.idleTime,
    connectionsCheckingInterval: 1_000,
    requireHostHeader: false,
  })
  server.timeout = limits.stallTime
  // Node knows it, but its types do not: a client that closes its side still gets the answers it waits for.
  Object.assign(server, { httpAllowHalfOpen: true })
  const latest = new WeakMap<Duplex, Exchange>()

  server.on('connection', (socket) => hearOut(socket, latest, headers))
  server.on('request', (request, response) => {
    const previous = latest.get(request.socket)
    // Behind the last answer of a connection nothing may happen, since nobody would learn of it.
    if (previous?.isLast || previous?.response.shouldKeepAlive === false) {
      previous.isLast = true
      return
    }
    // Node ignores what comes in one packet with a request to upgrade.
    const isLast = !hasClearFraming(request) || request.headers.upgrade !== undefined
    latest.set(request.socket, { request, response, isLast })
    if (isLast) response.shouldKeepAlive = false
    listener(request, response)
  })
  server.on('clientError', (thrown, socket) => {
    log.info({ reason: thrown.message }, 'refused what is not a request')
    endConnection(socket, latest.get(socket), thrown, headers)
  })
  server.on('connect', (_request, socket) => {
    const refusal = new ApiError('method_not_allowed', 'CONNECT is not served here.', { headers: { allow: '' } })
    endConnection(socket, latest.get(socket), refusal, headers)
  })
  server.on('checkContinue', (request, response) => {
    const { shouldKeepAlive } = response
    // An answer without the invitation ends the connection: what follows could be the body or another request.
    response.shouldKeepAlive = false
    request.once('resume', () => {
      if (response.headersSent) return
      response.shouldKeepAlive = shouldKeepAlive && !latest.get(request.socket)?.isLast
      response.writeContinue()
    })
    server.emit('request', request, response)
  })
  // Any expectation goes to where every request is checked.
  server.on('checkExpectation', (request, response) => {
    response.shouldKeepAlive = false
    server.emit('request', request, response)
  })
  return server
}
