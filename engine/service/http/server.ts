import { randomUUID } from 'node:crypto'
import type { RequestListener, Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { FastifyBaseLogger } from 'fastify'
import { ApiError } from '../api/errors.ts'
import type { Connections } from './connections.ts'
import { toHttpError } from './error-responses.ts'
import { limits } from './limits.ts'
import type { RequestIdOf } from './request.ts'
import { hasClearFraming } from './request-checks.ts'

// An import of it would also load Node's fetch, which takes 25 ms of the start.
const { createServer, STATUS_CODES } = process.getBuiltinModule('node:http')

/** Milliseconds for which the server discards what a client sends after the final response. A slow client needs seconds. */
const lingerTime = 5_000

type Headers = Record<string, string>

interface ServerOptions {
  log: FastifyBaseLogger
  requestIdOf: RequestIdOf
  /** The headers of every response. */
  headers: Headers
  /** Further ones of a response to bytes that are no request. */
  cors: Headers
  connections: Connections
  /** Whether a connection may have several requests. */
  keepAlive?: boolean
}

/**
 * Creates Node's HTTP server with limits. Where Node would respond with an empty body, this server sends the Error body:
 * for bytes that are not HTTP, a request that arrives too slowly, an unknown `Expect`, and `CONNECT`. Half-closed
 * connections, and clients that still send a body that is not read, receive their responses.
 */
export function createHttpServer(listener: RequestListener, options: ServerOptions): Server {
  const { requestIdOf, connections, keepAlive = true } = options
  const refuse = refuser(options)
  const server = createServer({
    maxHeaderSize: limits.headers,
    headersTimeout: limits.headersTime,
    requestTimeout: limits.requestTime,
    keepAliveTimeout: limits.idleTime,
    connectionsCheckingInterval: 1_000,
    requireHostHeader: false,
  })
  server.timeout = limits.stallTime
  // Their size limits them. Above 1,000, older versions of Node ignore those that follow, such as the Idempotency-Key.
  server.maxHeadersCount = 0
  // Node's types lack it. With it, half-closed connections receive their responses.
  Object.assign(server, { httpAllowHalfOpen: true })
  server.closeAllConnections = () => connections.close()

  server.on('connection', (socket) => {
    // Node keeps it, and so knows it also after a reset.
    void socket.remoteAddress
    connections.add(socket)
    lingerOnClose(socket)
  })
  server.on('request', (request, response) => {
    // Node ignores the bytes that follow a request to upgrade in the same packet.
    const isLast = !hasClearFraming(request) || request.headers.upgrade !== undefined
    if (isLast || !keepAlive) response.shouldKeepAlive = false
    connections.run(request, response, listener)
  })
  server.on('clientError', (thrown, socket) => {
    // A reset. If it aborts a request, the line of that request says so.
    if (socket.destroyed) return
    const { request } = connections.latest(socket) ?? {}
    // The bytes after a complete request belong to no request.
    refuse(socket, thrown, request && !request.complete ? requestIdOf(request) : randomUUID())
  })
  server.on('connect', (request, socket) => {
    // Node has removed its own listeners, and an error without a listener would end the process.
    socket.on('error', () => {})
    const error = new ApiError('method_not_allowed', 'CONNECT is not served here.', { headers: { allow: '' } })
    refuse(socket, error, requestIdOf(request))
  })
  server.on('checkContinue', (request, response) => {
    // Otherwise a client would send a body that is refused in any case.
    if (request.headers.authorization === undefined) response.shouldKeepAlive = false
    else response.writeContinue()
    server.emit('request', request, response)
  })
  // requestCheck responds to any other expectation with 417.
  server.on('checkExpectation', (request, response) => {
    response.shouldKeepAlive = false
    server.emit('request', request, response)
  })
  return server
}

/**
 * Makes the function that sends an error as the final response and ends the connection. Responses to earlier requests on the
 * connection are sent first. Later calls have no effect: the parser reports an error for each packet that follows.
 */
function refuser({ log, headers, cors, connections }: ServerOptions) {
  return function refuse(socket: Duplex, thrown: Error, requestId: string): void {
    log.info({ requestId, reason: thrown.message }, 'the connection sent an invalid request')
    const error = toHttpError(thrown)
    const { status } = error.body
    const content = JSON.stringify(error.body)
    const fields = {
      ...headers,
      ...error.headers,
      'x-request-id': requestId,
      'content-type': 'application/json; charset=utf-8',
      'content-length': String(Buffer.byteLength(content)),
      connection: 'close',
    }
    const raw = () => rawResponse(status, { ...fields, ...cors }, content)
    const { request, response } = connections.latest(socket) ?? {}
    if (!request || !response) endSocket(socket, raw())
    else if (request.complete || response.headersSent) {
      // A request that already has its response gets no second one if the rest of its body is invalid.
      const last = request.complete ? raw() : ''
      if (response.writableFinished) endSocket(socket, last)
      else response.once('finish', () => endSocket(socket, last))
    } else {
      // Otherwise Fastify would respond, too, if the client then resets the connection, and log the URL.
      request.removeAllListeners('error')
      // Set one by one, because the line of the request in the log reads the Content-Length.
      response.setHeaders(new Map(Object.entries(fields)))
      response.writeHead(status).end(content)
    }
  }
}

/**
 * Lingering close (RFC 9112, section 9.6): the server ends its side and reads on for a while. If it closed the connection
 * while the client still sends, the operating system would reset it, and the client could lose the response.
 */
function lingerOnClose(socket: Socket): void {
  // Node calls it after the final response, to destroy the socket as soon as the response is written.
  socket.destroySoon = () => void socket.end()
  socket.once('finish', () => {
    const timer = setTimeout(() => socket.destroy(), lingerTime)
    socket.once('close', () => clearTimeout(timer)).resume()
  })
}

function endSocket(socket: Duplex, last: string): void {
  if (socket.writable) socket.end(last)
}

/** An HTTP/1.1 response in full, for errors that have no response object. */
function rawResponse(status: number, headers: Headers, content: string): string {
  const fields = Object.entries({ date: new Date().toUTCString(), ...headers })
  const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines}\r\n${content}`
}
