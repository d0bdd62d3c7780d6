import { randomUUID } from 'node:crypto'
import type { IncomingMessage, RequestListener, Server } from 'node:http'
import type { FastifyBaseLogger } from 'fastify'
import { ApiError } from '../api/errors.ts'
import { closeAfter, endConnection, lingerOnClose, refuseHalfBodies } from './connection-closing.ts'
import { Connections, maxConnections } from './connections.ts'
import { limits } from './limits.ts'
import { createServer } from './node-http.ts'
import { hasClearFraming } from './request-checks.ts'
import { requestIdOf } from './request-id.ts'

/**
 * Creates Node's HTTP server with limits. Where Node would respond with an empty body, this server sends the Error body:
 * for bytes that are not HTTP, a request that arrives too slowly, an unknown `Expect`, and `CONNECT`. Half-closed
 * connections, and clients that still send a body that is not read, receive their responses.
 *
 * @param headers the headers of every response
 * @param keepAlive whether a connection may have several requests
 */
export function createHttpServer(
  listener: RequestListener,
  log: FastifyBaseLogger,
  headers: Record<string, string>,
  { connections = new Connections({ ...limits, connections: maxConnections() }), keepAlive = true } = {},
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
  // Node's types lack it. With it, half-closed connections receive their responses.
  Object.assign(server, { httpAllowHalfOpen: true })
  server.closeAllConnections = () => connections.closeAll()

  server.on('listening', () => {
    const checks = setInterval(() => connections.check(), 1_000).unref()
    server.once('close', () => clearInterval(checks))
  })
  server.on('connection', (socket) => {
    // Node keeps it, and so knows it also after a reset.
    void socket.remoteAddress
    connections.add(socket)
    lingerOnClose(socket)
    refuseHalfBodies(socket, () => connections.latest(socket), headers)
  })
  server.on('request', (request, response) => {
    if (!keepAlive || mustEndConnection(request)) response.shouldKeepAlive = false
    connections.run(request, response, listener)
  })
  server.on('clientError', (thrown, socket) => {
    // A reset. If it aborts a request, the line of that request says so.
    if (socket.destroyed) return
    const latest = connections.latest(socket)
    // The bytes after a complete request belong to no request.
    const requestId = latest && !latest.request.complete ? requestIdOf(latest.request) : randomUUID()
    log.info({ requestId, reason: thrown.message }, 'the connection sent an invalid request')
    endConnection(socket, latest, thrown, { ...headers, 'x-request-id': requestId })
  })
  server.on('connect', (request, socket) => {
    // Node has removed its own listeners, and an error without a listener would end the process.
    socket.on('error', () => {})
    // It has also removed its timers.
    closeAfter(limits.stallTime, socket)
    const error = new ApiError('method_not_allowed', 'CONNECT is not served here.', { headers: { allow: '' } })
    const requestId = requestIdOf(request)
    log.info({ requestId, reason: error.message }, 'the connection sent an invalid request')
    endConnection(socket, connections.latest(socket), error, { ...headers, 'x-request-id': requestId })
  })
  server.on('checkContinue', (request, response) => {
    const shouldKeepAlive = keepAlive && response.shouldKeepAlive
    // Without 100 Continue the response ends the connection, because the body may or may not follow.
    response.shouldKeepAlive = false
    request.once('resume', () => {
      if (response.headersSent) return
      response.shouldKeepAlive = shouldKeepAlive && !mustEndConnection(request)
      response.writeContinue()
    })
    server.emit('request', request, response)
  })
  // requestCheck responds to any other expectation with 417.
  server.on('checkExpectation', (request, response) => {
    response.shouldKeepAlive = false
    server.emit('request', request, response)
  })
  return server
}

/** Node ignores the bytes that follow a request to upgrade in the same packet. */
function mustEndConnection(request: IncomingMessage): boolean {
  return !hasClearFraming(request) || request.headers.upgrade !== undefined
}
