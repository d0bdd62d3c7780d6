import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { ApiError } from '../api/errors.ts'
import type { Exchange } from './connections.ts'
import { toHttpError } from './error-responses.ts'
import { STATUS_CODES } from './node-http.ts'
import { requestIdOf } from './request-id.ts'

/** Milliseconds for which the server discards what a client sends after the final response. */
const lingerTime = 1_000

/** The headers of every response, for {@link endConnection} with `x-request-id`. */
type CommonHeaders = Record<string, string>

/**
 * Lingering close (RFC 9112, section 9.6): the server ends its side and reads on for a while. If it closed the connection
 * while the client still sends, the operating system would reset it, and the client could lose the response.
 */
export function lingerOnClose(socket: Socket): void {
  // Node calls it after the final response, to destroy the socket as soon as the response is written.
  socket.destroySoon = () => void socket.end()
  socket.once('finish', () => {
    closeAfter(lingerTime, socket)
    socket.resume()
  })
}

export function closeAfter(milliseconds: number, socket: Duplex): void {
  const timer = setTimeout(() => socket.destroy(), milliseconds)
  socket.once('close', () => clearTimeout(timer))
}

/** Responds with 400 if the client ends its side of the connection before the body of its request is complete. */
export function refuseHalfBodies(socket: Socket, latest: () => Exchange | undefined, headers: CommonHeaders): void {
  socket.once('end', () => {
    const error = new ApiError('invalid_request', 'The connection was closed before the body was complete.')
    const exchange = latest()
    if (!exchange || exchange.request.complete) return
    endConnection(socket, exchange, error, { ...headers, 'x-request-id': requestIdOf(exchange.request) })
  })
}

/**
 * Sends an error as the final response and ends the connection. Responses to earlier requests on the connection are sent
 * first. Later calls for the same connection have no effect: the parser reports an error for each packet that follows.
 *
 * @param latest the exchange of the latest request on the connection
 */
export function endConnection(
  socket: Duplex,
  latest: Exchange | undefined,
  thrown: Error,
  headers: CommonHeaders,
): void {
  // A request of this turn of the event loop starts first: see Connections.
  setImmediate(() => end(socket, latest, toHttpError(thrown), headers))
}

function end(socket: Duplex, latest: Exchange | undefined, error: ApiError, headers: CommonHeaders): void {
  if (!latest) {
    endSocket(socket, rawResponse(error, headers))
    return
  }
  const { request, response } = latest
  if (request.complete || response.headersSent) {
    // A request that already has its response gets no second one if the rest of its body is invalid.
    const last = request.complete ? rawResponse(error, headers) : ''
    if (response.writableFinished) endSocket(socket, last)
    else response.once('finish', () => endSocket(socket, last))
  } else {
    // Otherwise Fastify would respond, too, if the client then resets the connection, and log the URL.
    request.removeAllListeners('error')
    const content = JSON.stringify(error.body)
    // Set one by one, because the line of the request in the log reads the Content-Length.
    response.setHeaders(new Map(Object.entries(headersOf(error, content, headers))))
    response.writeHead(error.body.status).end(content)
  }
}

function endSocket(socket: Duplex, last: string): void {
  if (socket.writable) socket.end(last)
}

/** An HTTP/1.1 response in full, for errors that have no response object. */
function rawResponse(error: ApiError, headers: CommonHeaders): string {
  const content = JSON.stringify(error.body)
  const fields = Object.entries(headersOf(error, content, headers)).map(([name, value]) => `${name}: ${value}\r\n`)
  const { status } = error.body
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${fields.join('')}\r\n${content}`
}

function headersOf(error: ApiError, content: string, headers: CommonHeaders): Record<string, string | number> {
  return {
    ...headers,
    ...error.headers,
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(content),
    connection: 'close',
  }
}
