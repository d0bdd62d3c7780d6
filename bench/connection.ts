import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { NextRequest } from './workloads.ts'

/** A connection of the load generator, with at most one request in flight. Latencies are in milliseconds. */
export class Connection {
  readonly latencies = { reads: [] as number[], creates: [] as number[] }
  failures = 0
  readonly connected: Promise<unknown>
  /** Rejects if the server closes the connection. */
  readonly closed: Promise<void>
  readonly #next: NextRequest
  readonly #socket: Socket
  #received = ''
  #isDone = false
  #start = 0
  #isCreate = false
  #onResponse: (connection: this) => void = () => {}

  constructor({ port, next }: { port: number; next: NextRequest }) {
    this.#next = next
    const onread = { buffer: Buffer.allocUnsafe(64 * 1024), callback: this.#receive.bind(this) }
    this.#socket = connect({ host: '127.0.0.1', port, noDelay: true, onread })
    this.connected = once(this.#socket, 'connect')
    this.closed = new Promise((resolve, reject) => {
      this.#socket.once('error', reject)
      this.#socket.once('close', () =>
        this.#isDone ? resolve() : reject(new Error('The server closed a connection.')),
      )
    })
  }

  /** @param start when the latency of the request begins, as of performance.now() */
  send(start: number, onResponse: (connection: this) => void): void {
    const request = this.#next()
    this.#start = start
    this.#isCreate = request[0] === 'P'.charCodeAt(0)
    this.#onResponse = onResponse
    this.#socket.write(request)
  }

  end(): void {
    this.#isDone = true
    this.#socket.end()
  }

  #receive(bytes: number, buffer: Uint8Array): boolean {
    // Safe: this is the Buffer that `onread` allocates.
    this.#received += (buffer as Buffer).toString('latin1', 0, bytes)
    if (!isComplete(this.#received)) return true
    if (!/^HTTP\/1\.1 20[01]/.test(this.#received)) this.failures++
    this.#received = ''
    const latencies = this.#isCreate ? this.latencies.creates : this.latencies.reads
    latencies.push(performance.now() - this.#start)
    this.#onResponse(this)
    return true
  }
}

function isComplete(received: string): boolean {
  const head = received.indexOf('\r\n\r\n')
  if (head < 0) return false
  const length = /\r\ncontent-length: (\d+)/i.exec(received)?.[1]
  return length === undefined ? received.endsWith('\r\n0\r\n\r\n') : received.length >= head + 4 + Number(length)
}
