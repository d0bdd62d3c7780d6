import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { connect, type Socket } from 'node:net'
import { pino } from 'pino'
import { onTestFinished } from 'vitest'
import { createHttpServer } from '../../server/http/server.ts'
import { startTestApi, type TestApi } from './helpers.ts'

export interface RawAnswer {
  status: number
  headers: Map<string, string>
  body: string
}

/** What came back on the socket until the server closed it, or until it had said something and no more for `quiet` ms. */
export async function exchange(url: string, bytes: string | Buffer, { quiet = 1_000 } = {}): Promise<RawAnswer[]> {
  const socket = await openSocket(url)
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => {
    chunks.push(chunk)
    socket.setTimeout(quiet)
  })
  socket.setTimeout(15_000, () => socket.destroy())
  socket.write(bytes)
  socket.once('end', () => socket.end())
  await closing(socket)
  return parseAnswers(Buffer.concat(chunks).toString('utf8'))
}

/** Resolves when the connection is over, by a reset too, which `once` would take for a failure. */
export function closing(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once('close', () => resolve()))
}

export async function openSocket(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true })
  // A server that has refused a request may reset the connection under the rest of it.
  socket.on('error', () => {})
  onTestFinished(() => void socket.destroy())
  await once(socket, 'connect')
  return socket
}

/** Takes apart the responses in a stream (RFC 9112). */
export function parseAnswers(text: string): RawAnswer[] {
  const answers: RawAnswer[] = []
  for (let rest = Buffer.from(text); rest.length > 0; ) {
    const end = rest.indexOf('\r\n\r\n')
    if (end === -1) throw new Error(`This is no HTTP response: ${rest}`)
    const [statusLine = '', ...lines] = rest.subarray(0, end).toString().split('\r\n')
    const headers = new Map(lines.map(parseHeader))
    const [body, length] =
      headers.get('transfer-encoding') === 'chunked'
        ? joinChunks(rest.subarray(end + 4))
        : takeBytes(rest.subarray(end + 4), Number(headers.get('content-length') ?? 0))
    answers.push({ status: Number(statusLine.split(' ')[1]), headers, body })
    rest = rest.subarray(end + 4 + length)
  }
  return answers
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

export const host = 'Host: petstore.test\r\n'
export const json = 'Content-Type: application/json\r\n'
export const rex = '{"name":"Rex","categoryId":7}'

/** A creation as bytes; `headers` are lines of their own, `body` may be shorter or longer than its `length`. */
export function creation(headers: string, body = rex, length = body.length): string {
  return `POST /v1/pets HTTP/1.1\r\n${host}${json}${headers}Content-Length: ${length}\r\n\r\n${body}`
}

export interface ListeningApi extends TestApi {
  url: string
  /** A header line with a good key. */
  authorization: string
}

/** Lets a fresh service, or the one given, listen on a free port. */
export async function listen(api?: TestApi): Promise<ListeningApi> {
  const { app, ...rest } = api ?? (await startTestApi())
  const url = app.server.listening ? app.listeningOrigin : await app.listen({ host: '127.0.0.1', port: 0 })
  return { ...rest, app, url, authorization: `Authorization: Bearer ${rest.key}\r\n` }
}

/** The HTTP server of the service in front of another application, with the sockets that it has accepted. */
export async function startHttpServer(listener: RequestListener): Promise<{ url: string; sockets: Socket[] }> {
  const server = createHttpServer(listener, pino({ level: 'silent' }), {})
  const sockets: Socket[] = []
  server.on('connection', (socket) => sockets.push(socket))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  if (typeof address !== 'object' || !address) throw new Error('A TCP server has a port.')
  return { url: `http://127.0.0.1:${address.port}`, sockets }
}

/** The statuses in a stream, those of interim answers (1xx) included. */
export function statusesIn(received: string): number[] {
  return [...received.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status))
}

/** Gathers what arrives on a socket. */
export function collect(socket: Socket): { text: string } {
  const received = { text: '' }
  socket.on('data', (chunk) => (received.text += chunk))
  return received
}
