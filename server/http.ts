import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http'
import type { Duplex } from 'node:stream'
import type { FastifyBaseLogger } from 'fastify'
import { ApiError, toApiError } from './errors.ts'
import { securityHeaders } from './security-headers.ts'

/** What a request may take. Sizes in bytes, times in milliseconds. */
export const limits = {
  body: 64 * 1024,
  headers: 16 * 1024,
  url: 8 * 1024,
  headersTime: 5_000,
  requestTime: 10_000,
  handlerTime: 15_000,
  idleTime: 5_000,
  lingerTime: 1_000,
}

/**
 * Node's HTTP server with limits on what it waits for, and with the Error body wherever Node would answer by itself:
 * bytes that are not HTTP, a request that arrives too slowly, an `Expect` other than 100-continue, `CONNECT`.
 */
export function createHttpServer(listener: RequestListener, log: FastifyBaseLogger): Server {
  const server = createServer({
    maxHeaderSize: limits.headers,
    headersTimeout: limits.headersTime,
    requestTimeout: limits.requestTime,
    keepAliveTimeout: limits.idleTime,
    connectionsCheckingInterval: 1_000,
    requireHostHeader: false,
  })
  const latest = new WeakMap<Duplex, Exchange>()
  // A client that has said all it has to say may still listen. Node's types do not know of this.
  Object.assign(server, { httpAllowHalfOpen: true })

  server.on('request', (request, response) => {
    latest.set(request.socket, { request, response })
    listener(request, response)
  })
  server.on('clientError', (thrown, socket) => {
    log.info({ reason: thrown.message }, 'refused what is not a request')
    endConnection(socket, latest.get(socket), thrown)
  })
  server.on('connect', (_request, socket) => {
    endConnection(
      socket,
      latest.get(socket),
      new ApiError('method_not_allowed', 'CONNECT is not served here.', { headers: { allow: '' } }),
    )
  })
  // Any expectation goes to where every request is checked.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  return server
}

interface Exchange {
  request: IncomingMessage
  response: ServerResponse
}

/** Answers the error in its turn, behind the answers to what came before it on the connection, and hangs up. */
function endConnection(socket: Duplex, latest: Exchange | undefined, thrown: Error): void {
  // From here on nobody else listens, and an error without a listener would end the process.
  socket.on('error', () => socket.destroy())
  if (!socket.writable) {
    socket.destroy()
  } else if (!latest) {
    hangUp(socket, thrown)
  } else if (latest.request.complete) {
    if (latest.response.writableFinished) hangUp(socket, thrown)
    else latest.response.once('finish', () => hangUp(socket, thrown))
  } else if (latest.response.headersSent) {
    // The body of a request that has its answer already: it only has to get through.
    if (latest.response.writableFinished) linger(socket)
    else latest.response.once('finish', () => linger(socket))
  } else {
    respond(latest.response, toApiError(thrown))
  }
}

function hangUp(socket: Duplex, thrown: Error): void {
  linger(socket, rawResponse(toApiError(thrown)))
}

/** Says the last words, then discards what the client still sends, so that it can read all answers before the end. */
function linger(socket: Duplex, lastWords = ''): void {
  socket.resume()
  socket.end(lastWords)
  setTimeout(() => socket.destroy(), limits.lingerTime).unref()
}

function respond(response: ServerResponse, { body, headers }: ApiError): void {
  const content = JSON.stringify(body)
  response.writeHead(body.status, { ...headers, ...contentHeaders(content) }).end(content)
}

/** A whole HTTP/1.1 response, for where there is no response object. */
function rawResponse({ body, headers }: ApiError): string {
  const content = JSON.stringify(body)
  const fields = Object.entries({ ...headers, ...contentHeaders(content) })
  const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${body.status} ${STATUS_CODES[body.status]}\r\n${lines.join('')}\r\n${content}`
}

function contentHeaders(content: string): Record<string, string | number> {
  const length = Buffer.byteLength(content)
  return {
    ...securityHeaders,
    'content-type': 'application/json; charset=utf-8',
    'content-length': length,
    connection: 'close',
  }
}
