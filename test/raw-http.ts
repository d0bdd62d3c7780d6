import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

export interface RawAnswer {
  status: number
  headers: Map<string, string>
  body: string
}

/** What came back on the socket until the server closed it, or until it had nothing more to say for `quiet` ms. */
export async function exchange(url: string, bytes: string | Buffer, { quiet = 1_000 } = {}): Promise<RawAnswer[]> {
  const socket = await openSocket(url)
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => chunks.push(chunk))
  socket.setTimeout(quiet, () => socket.destroy())
  socket.write(bytes)
  socket.once('end', () => socket.end())
  await once(socket, 'close')
  return parseAnswers(Buffer.concat(chunks).toString('utf8'))
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

/** Takes apart the responses in a stream; all of ours carry a Content-Length or have no body. */
export function parseAnswers(text: string): RawAnswer[] {
  const answers: RawAnswer[] = []
  let bytes = Buffer.from(text)
  while (bytes.length > 0) {
    const end = bytes.indexOf('\r\n\r\n')
    const [statusLine = '', ...lines] = bytes.subarray(0, end).toString().split('\r\n')
    const headers = new Map(
      lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    )
    const length = Number(headers.get('content-length') ?? 0)
    answers.push({
      status: Number(statusLine.split(' ')[1]),
      headers,
      body: bytes.subarray(end + 4, end + 4 + length).toString(),
    })
    bytes = bytes.subarray(end + 4 + length)
    if (end === -1) throw new Error(`This is no HTTP response: ${text}`)
  }
  return answers
}
