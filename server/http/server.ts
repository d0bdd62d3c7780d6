import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { FastifyBaseLogger } from 'fastify'
import { ApiError } from '../api/errors.ts'
import { endConnection, handleHalfClose } from './connection-closing.ts'
import { Connections, maxConnections } from './connections.ts'
import { hasClearFraming } from './framing.ts'

/** What a request may take. Sizes in bytes, times in milliseconds. */
export const limits = {
  body: 64 * 1024,
  headers: 16 * 1024,
  url: 8 * 1024,
  headersTime: 5_000,
  requestTime: 10_000,
  /** Without progress on a connection whose response is not sent completely. */
  stallTime: 20_000,
  idleTime: 5_000,
  /** Pipelined requests that wait for the response before theirs, over all connections. */
  heldRequests: 10_000,
  /** Of complete responses that clients have not read, over all connections. */
  unsentBytes: 128 * 1024 * 1024,
}

/**
 * Node's HTTP server with limits on what it waits for, and with the Error body wherever Node would answer by itself:
 * bytes that are not HTTP, a request that arrives too slowly, an `Expect` other than 100-continue, `CONNECT`.
 * Half-closed connections, and clients that still send a body that is not read, get their responses too.
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
  // Missing in Node's types. Half-closed connections still get their responses.
  Object.assign(server, { httpAllowHalfOpen: true })
  const connections = new Connections({ ...limits, connections: maxConnections() })

  server.on('connection', (socket) => {
    connections.add(socket)
    handleHalfClose(socket, () => connections.latest(socket), headers)
  })
  server.on('request', (request, response) => {
    if (mustEndConnection(request)) response.shouldKeepAlive = false
    connections.run(request, response, listener)
  })
  server.on('clientError', (thrown, socket) => {
    log.info({ reason: thrown.message }, 'refused what is not a request')
    endConnection(socket, connections.latest(socket), thrown, headers)
  })
  server.on('connect', (_request, socket) => {
    const refusal = new ApiError('method_not_allowed', 'CONNECT is not served here.', { headers: { allow: '' } })
    endConnection(socket, connections.latest(socket), refusal, headers)
  })
  server.on('checkContinue', (request, response) => {
    const { shouldKeepAlive } = response
    // A response without the invitation ends the connection: what follows could be the body or another request.
    response.shouldKeepAlive = false
    request.once('resume', () => {
      if (response.headersSent) return
      response.shouldKeepAlive = shouldKeepAlive && !mustEndConnection(request)
      response.writeContinue()
    })
    server.emit('request', request, response)
  })
  // requestCheck responds to every other expectation with 417.
  server.on('checkExpectation', (request, response) => {
    response.shouldKeepAlive = false
    server.emit('request', request, response)
  })
  return server
}

/** Node ignores what follows a request to upgrade in the same packet. */
function mustEndConnection(request: IncomingMessage): boolean {
  return !hasClearFraming(request) || request.headers.upgrade !== undefined
}
