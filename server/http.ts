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

  server.on('request', (request, response) => {
    latest.set(request.socket, { request, response })
    listener(request, response)
  })
  server.on('clientError', (thrown, socket) => refuse(socket, toApiError(thrown)))
  server.on('checkExpectation', ({ socket }) =>
    refuse(socket, new ApiError('expectation_failed', 'The only expectation met here is 100-continue.')),
  )
  server.on('connect', (_request, socket) =>
    refuse(socket, new ApiError('method_not_allowed', 'CONNECT is not served here.', { headers: { allow: '' } })),
  )
  return server

  function refuse(socket: Duplex, error: ApiError): void {
    log.info({ status: error.body.status }, error.message)
    endConnection(socket, latest.get(socket), error)
  }
}

interface Exchange {
  request: IncomingMessage
  response: ServerResponse
}

/** Answers on the bare socket, unless that would break into an answer that is under way. */
function endConnection(socket: Duplex, latest: Exchange | undefined, error: ApiError): void {
  const response = latest?.response
  if (!response || response.writableFinished) {
    hangUp(socket, error)
  } else if (latest.request.complete) {
    // The bytes came after a complete request whose answer is still to be sent.
    response.once('finish', () => hangUp(socket, error))
  } else if (response.headersSent) {
    socket.destroy()
  } else {
    hangUp(socket, error)
  }
}

/** Sends the answer, then discards what the client still sends, so that it can read the answer before the end. */
function hangUp(socket: Duplex, error: ApiError): void {
  if (!socket.writable) return
  socket.resume()
  socket.end(rawResponse(error))
  setTimeout(() => socket.destroy(), limits.lingerTime).unref()
}

/** A whole HTTP/1.1 response, for where there is no response object. */
function rawResponse({ body, headers }: ApiError): string {
  const content = JSON.stringify(body)
  const fields = {
    ...headers,
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(content),
    connection: 'close',
  }
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${body.status} ${STATUS_CODES[body.status]}\r\n${lines.join('')}\r\n${content}`
}
