import { type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { ApiError } from '../api/errors.ts'
import type { Exchange } from './connections.ts'
import { toHttpError } from './error-responses.ts'

/** For how long, in milliseconds, a client that has its last answer is still heard. */
const lingerTime = 1_000

/** The headers of every response. */
type CommonHeaders = Record<string, string>

/** Connections whose last answer is settled. */
const ended = new WeakSet<Duplex>()

/** Answers the error in its turn, behind the answers to what came before it on the connection, and hangs up. */
export function endConnection(
  socket: Duplex,
  latest: Exchange | undefined,
  thrown: Error,
  headers: CommonHeaders,
): void {
  // The parser complains again of each packet that follows.
  if (ended.has(socket)) return
  ended.add(socket)
  // From here on nobody else listens, and an error without a listener would end the process.
  socket.on('error', () => socket.destroy())
  if (!socket.writable) {
    socket.destroy()
  } else if (!latest) {
    hangUp(socket, thrown, headers)
  } else if (latest.request.complete) {
    afterAnswer(latest, () => hangUp(socket, thrown, headers))
  } else if (latest.response.headersSent) {
    // The body of a request that has its answer already: it only has to get through.
    afterAnswer(latest, () => linger(socket))
  } else {
    respond(latest.response, toHttpError(thrown), headers)
  }
}

/** Responds to a connection that is half-closed before the body is complete, and to a client that sends a body that is not read. */
export function handleHalfClose(socket: Socket, latest: () => Exchange | undefined, headers: CommonHeaders): void {
  socket.once('end', () => {
    const error = new ApiError('invalid_request', 'The connection was closed before the body was complete.')
    const exchange = latest()
    if (exchange && !exchange.request.complete) endConnection(socket, exchange, error, headers)
  })
  // Node calls it after the final response.
  const destroySoon = socket.destroySoon.bind(socket)
  socket.destroySoon = () => {
    const exchange = latest()
    const isDone = !exchange || (exchange.request.complete && exchange.response.writableFinished)
    if (isDone) destroySoon()
    else linger(socket)
  }
}

function afterAnswer({ response }: Exchange, act: () => void): void {
  if (response.writableFinished) act()
  else response.once('finish', act)
}

function hangUp(socket: Duplex, thrown: Error, headers: CommonHeaders): void {
  if (socket.writable) socket.write(rawResponse(toHttpError(thrown), headers))
  linger(socket)
}

/** Discards what the client still sends: closing under it could reset the connection and take the answer from it. */
function linger(socket: Duplex): void {
  ended.add(socket)
  socket.resume()
  socket.end()
  setTimeout(() => socket.destroy(), lingerTime).unref()
}

function respond(response: ServerResponse, { body, headers: own }: ApiError, headers: CommonHeaders): void {
  const content = JSON.stringify(body)
  response.writeHead(body.status, { ...headers, ...own, ...contentHeaders(content) }).end(content)
}

/** A whole HTTP/1.1 response, for where there is no response object. */
function rawResponse({ body, headers: own }: ApiError, headers: CommonHeaders): string {
  const content = JSON.stringify(body)
  const fields = Object.entries({ ...headers, ...own, ...contentHeaders(content) })
  const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${body.status} ${STATUS_CODES[body.status]}\r\n${lines.join('')}\r\n${content}`
}

function contentHeaders(content: string): Record<string, string | number> {
  const length = Buffer.byteLength(content)
  return {
    'content-type': 'application/json; charset=utf-8',
    'content-length': length,
    connection: 'close',
  }
}
