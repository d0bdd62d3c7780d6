import { once } from 'node:events'
import { type Agent, type RequestListener, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { pino } from 'pino'
import { expect, onTestFinished } from 'vitest'
import { Connections } from '../../service/http/connections.ts'
import { requestIdsWithout } from '../../service/http/request.ts'
import { createHttpServer } from '../../service/http/server.ts'
import type { ProductFixtures } from './product.ts'
import type { TestApi } from './test-api.ts'
import type { SampleRow } from './tested.ts'

export interface RawResponse {
  status: number
  headers: Map<string, string>
  body: string
}

/** Sends the bytes. Reads responses until the server closes the connection, or sends nothing more for `quiet` ms. */
export async function exchange(url: string, bytes: string | Buffer, { quiet = 1_000 } = {}): Promise<RawResponse[]> {
  const socket = await openSocket(url)
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => {
    chunks.push(chunk)
    socket.setTimeout(quiet)
  })
  socket.setTimeout(60_000, () => socket.destroy())
  socket.write(bytes)
  socket.once('end', () => socket.end())
  await closing(socket)
  return parseResponses(Buffer.concat(chunks).toString('utf8'))
}

/** Resolves when the connection is closed, also by a reset, for which `once` would reject. */
export function closing(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once('close', () => resolve()))
}

export async function openSocket(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true })
  // The server may reset the connection while the rest of a rejected request is sent.
  socket.on('error', () => {})
  onTestFinished(() => void socket.destroy())
  await once(socket, 'connect')
  return socket
}

/** Splits a stream into responses (RFC 9112). */
export function parseResponses(text: string): RawResponse[] {
  const responses: RawResponse[] = []
  for (let rest = Buffer.from(text); rest.length > 0; ) {
    const end = rest.indexOf('\r\n\r\n')
    if (end === -1) throw new Error(`Expected an HTTP response, got: ${rest}`)
    const [statusLine = '', ...lines] = rest.subarray(0, end).toString().split('\r\n')
    const headers = new Map(lines.map(parseHeader))
    const [body, length] =
      headers.get('transfer-encoding') === 'chunked'
        ? joinChunks(rest.subarray(end + 4))
        : takeBytes(rest.subarray(end + 4), Number(headers.get('content-length') ?? 0))
    responses.push({ status: Number(statusLine.split(' ')[1]), headers, body })
    rest = rest.subarray(end + 4 + length)
  }
  return responses
}

function parseHeader(line: string): [string, string] {
  const colon = line.indexOf(':')
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
}

function takeBytes(bytes: Buffer, length: number): [body: string, length: number] {
  return [bytes.subarray(0, length).toString(), length]
}

function joinChunks(bytes: Buffer): [body: string, length: number] {
  let body = ''
  let position = 0
  for (;;) {
    const lineEnd = bytes.indexOf('\r\n', position)
    const size = Number.parseInt(bytes.toString('latin1', position, lineEnd), 16)
    const end = lineEnd + 2 + size
    if (!(size > 0)) return [body, end + 2]
    body += bytes.toString('utf8', lineEnd + 2, end)
    position = end + 2
  }
}

/** Expects a whole response with the Error body, and the id of the request. */
export function expectError(response: RawResponse | undefined, status: number, code: string): void {
  expect(response?.status).toBe(status)
  expect(response?.headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(response?.headers.get('content-length')).toBe(String(Buffer.byteLength(response?.body ?? '')))
  expect(response?.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  const body = JSON.parse(response?.body ?? '')
  expect(body).toEqual({ code, message: expect.stringMatching(/^[A-Z].*\.$/), status })
  expectNothingInternal(body.message)
}

/** A message must not contain stacks, paths, SQL, package names or errors of the runtime. */
export function expectNothingInternal(message: string): void {
  expect(message).not.toMatch(
    /\n|\bat .+:\d+|node_modules|node:|\.[cm]?[jt]s\b|SELECT|INSERT|SQLITE|FST_|HPE_|ERR_|ECONN|fastify|zod|undici|TypeError/i,
  )
}

export const host = 'Host: service.test\r\n'
export const json = 'Content-Type: application/json\r\n'
/** A service that listens. */
export type Listening<Api> = Api & {
  url: string
  /** A header line with a valid key. */
  authorization: string
}

/** Requests of a product as bytes, over a socket. */
export function rawHttpFixtures<Api extends TestApi>(
  row: SampleRow,
  { product }: ProductFixtures,
  { startTestApi }: { startTestApi(): Promise<Api> },
) {
  return {
    /** The body of a valid create. */
    validBody: row.json,
    /** The text of a create request. Each line in `headers` ends with CRLF, and `body` may be shorter or longer than `length`. */
    createRequest(headers: string, body = row.json, length = body.length): string {
      return `POST /v1/${row.table} HTTP/1.1\r\n${host}${json}${headers}Content-Length: ${length}\r\n\r\n${body}`
    },
    /** Makes the given service, or a new one, listen on a free port unless it already listens. */
    async listen<A extends TestApi = Api>(api?: A): Promise<Listening<A>> {
      // Safe: without an argument, the type is that of a new one.
      const { app, ...rest } = api ?? ((await startTestApi()) as unknown as A)
      const url = app.server.listening ? app.listeningOrigin : await app.listen({ host: '127.0.0.1', port: 0 })
      return { ...rest, app, url, authorization: `Authorization: Bearer ${rest.key}\r\n` } as unknown as Listening<A>
    },
    /** Sends a create whose body is completed when `finish` is called. It has `begun` when the service knows of it. */
    createInTwoParts(url: string, key: string, agent: Agent, name: string) {
      const body = JSON.stringify({ ...JSON.parse(row.json), [row.text]: name })
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', expect: '100-continue' }
      const sent = request(`${url}/v1/${row.table}`, {
        method: 'POST',
        agent,
        headers: { ...headers, 'content-length': body.length },
      })
      sent.flushHeaders()
      sent.on('error', () => {})
      onTestFinished(() => void sent.destroy())
      const begun = once(sent, 'continue').then(() => void sent.write(body.slice(0, 5)))
      const response = once(sent, 'response').then(([incoming]) => {
        incoming.resume()
        return { name, status: incoming.statusCode, connection: incoming.headers.connection }
      })
      response.catch(() => {})
      return { begun, response, finish: () => void sent.end(body.slice(5)) }
    },
    startHttpServer: (listener: RequestListener, connections?: Connections) =>
      startHttpServer(product.keyPrefix, listener, connections),
  }
}

/**
 * Starts the HTTP server of the service with another request listener, and without the timeouts of connections, which a
 * busy machine would reach before the limits that a test checks. `sockets` lists the accepted connections.
 */
async function startHttpServer(
  keyPrefix: string,
  listener: RequestListener,
  connections = new Connections(),
): Promise<{ url: string; sockets: Socket[] }> {
  const log = pino({ level: 'silent' })
  const requestIdOf = requestIdsWithout(keyPrefix)
  const server = createHttpServer(listener, { log, requestIdOf, headers: {}, cors: {}, connections })
  server.timeout = 0
  server.keepAliveTimeout = 0
  const sockets: Socket[] = []
  server.on('connection', (socket) => sockets.push(socket))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  if (typeof address !== 'object' || !address) throw new Error('Expected the address of a TCP server.')
  return { url: `http://127.0.0.1:${address.port}`, sockets }
}

/** The statuses in a stream, including those of interim responses (1xx). */
export function statusesIn(received: string): number[] {
  return [...received.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status))
}

/** Collects the bytes that arrive on a socket as text. */
export function collect(socket: Socket): { text: string } {
  const received = { text: '' }
  socket.on('data', (chunk) => (received.text += chunk))
  return received
}
