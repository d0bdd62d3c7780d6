import type { Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { host, openSocket } from './raw-http.ts'

const upgrade = (protocol: string) =>
  `GET /livez HTTP/1.1\r\n${host}Connection: Upgrade\r\nUpgrade: ${protocol}\r\n\r\n`

type CreateRequest = (headers: string, body: string, length: number) => string
type Beginnings = Record<string, string | Buffer>

/** What a client sends that never completes its request, or that never reads the response. */
const common = (authorization: string, createRequest: CreateRequest): Beginnings => ({
  nothing: '',
  'a request': `GET /livez HTTP/1.1\r\n${host}\r\n`,
  'half the headers': 'GET /livez HTTP/1.1\r\nHost: serv',
  'half a body': createRequest(authorization, '{', 100),
  CONNECT: `CONNECT service.test:80 HTTP/1.1\r\n${host}\r\n`,
  'an upgrade to WebSocket': upgrade('websocket'),
  'the beginning of TLS': Buffer.from('160301020001000001fc0303', 'hex'),
})

const rare = (createRequest: CreateRequest): Beginnings => ({
  'half a body without a key': createRequest('', '{', 100),
  'an upgrade to HTTP/2': upgrade('h2c'),
  'the preface of HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
})

/** What the client does afterwards. The bytes of a trickle are no request, so they end nothing. */
const continuations: Record<string, (socket: Socket) => void> = {
  '': () => {},
  ', and half-closes': (socket) => void socket.end(),
  ', and trickles empty lines': (socket) => trickle(socket, '\r\n'),
  ', and trickles letters': (socket) => trickle(socket, 'x'),
}

export interface StubbornClient {
  name: string
  /** Whether a large response comes first, which the client does not read. */
  isUnread: boolean
  open(): Promise<Socket>
}

/**
 * Clients that try to keep a connection open. None reads what it receives. Their responses stay below the limit of unread
 * bytes.
 *
 * @param authorization a header line with a valid key
 * @param createRequest that of the product
 * @param large the path of a response that is larger than the buffers of the operating system
 */
export function stubbornClients(
  url: string,
  authorization: string,
  large: string,
  createRequest: CreateRequest,
): StubbornClient[] {
  const unread = `GET ${large} HTTP/1.1\r\n${host}\r\n`
  const sent = common(authorization, createRequest)
  const clients = (beginnings: Beginnings, before: string) =>
    Object.entries(beginnings).flatMap(([beginning, bytes]) =>
      Object.entries(continuations).map(([continuation, proceed]) => ({
        name: `${before && 'an unread response and '}${beginning}${continuation}`,
        isUnread: before !== '',
        async open() {
          const socket = await openSocket(url)
          socket.write(Buffer.concat([Buffer.from(before), Buffer.from(bytes)]))
          proceed(socket)
          return socket
        },
      })),
    )
  return [...clients(sent, unread), ...clients({ ...sent, ...rare(createRequest) }, '')]
}

function trickle(socket: Socket, bytes: string): void {
  const timer = setInterval(() => void (socket.writable && socket.write(bytes)), 1_000)
  socket.once('close', () => clearInterval(timer))
  onTestFinished(() => clearInterval(timer))
}
