import { existsSync, readFileSync } from 'node:fs'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { limits } from './limits.ts'
import { isSafeMethod } from './request.ts'

interface Exchange {
  request: IncomingMessage
  response: ServerResponse
}

interface Connection {
  /** The latest request, unless it is complete and has its response. */
  latest: Exchange | undefined
  /** Pipelined requests that wait for the previous response. */
  held: number
  /** Requests in progress that may change something. */
  writes: number
  isUnused: boolean
  /** The start of its latest request or, if it is idle, the end of that. Counts the starts and ends on all connections. */
  usedAt: number
}

/** Above the limit, the least recently used connection is closed: clients that keep theirs open must not lock out others. */
export class Connections {
  readonly #limit: number
  /**
   * No entry comes or goes with a request. V8 would then replace the table of the Map every few requests, and a replaced
   * table in the old generation keeps its successors alive, with all requests in them.
   */
  readonly #open = new Map<Duplex, Connection>()
  #uses = 0
  #heldRequests = 0

  constructor(limit = maxConnections()) {
    this.#limit = limit
  }

  latest(socket: Duplex): Exchange | undefined {
    return this.#open.get(socket)?.latest
  }

  add(socket: Duplex): void {
    if (this.#open.size >= this.#limit) this.#closeLeastUsed()
    this.#open.set(socket, { latest: undefined, held: 0, writes: 0, isUnused: true, usedAt: this.#uses++ })
    socket.once('close', () => this.#remove(socket))
  }

  /** One at a time for a connection. Node would start all and keep the responses: 13 KB of requests could take gigabytes. */
  run(request: IncomingMessage, response: ServerResponse, listener: RequestListener): void {
    const { socket } = request
    const connection = this.#open.get(socket)
    // Nothing follows the final response.
    if (!connection || !socket.writable) return
    const previous = connection.latest?.response
    connection.latest = { request, response }
    connection.isUnused = false
    connection.usedAt = this.#uses++
    if (!isSafeMethod(request.method)) {
      connection.writes++
      response.once('close', () => connection.writes--)
    }
    const end = () => {
      // Idle connections must not keep their last exchange: at 256 of them, garbage collections paused three times as long.
      if (connection.latest?.response !== response) return
      connection.latest = undefined
      connection.usedAt = this.#uses++
    }
    // A response may precede the end of the request, as that to a request without a key.
    response.on('close', () => (request.complete ? end() : request.once('close', end)))
    if (!previous || previous.closed) {
      listener(request, response)
      return
    }
    connection.held++
    if (++this.#heldRequests > limits.heldRequests) {
      this.#close(socket)
      return
    }
    const pass = () => {
      if (!this.#open.has(socket)) return
      connection.held--
      this.#heldRequests--
      if (socket.writable && !response.writableEnded) listener(request, response)
    }
    // In a later turn of the event loop: other connections are served first.
    previous.once('close', () => setImmediate(pass))
  }

  /** Closes all of these connections, also those that Node no longer knows, which are those after CONNECT. */
  close(areMeant: (connection: Connection) => boolean = () => true): void {
    for (const [socket, connection] of this.#open) if (areMeant(connection)) this.#close(socket)
  }

  /** Forgets a connection at once: the event `close` comes later. */
  #close(socket: Duplex): void {
    this.#remove(socket)
    socket.destroy()
  }

  #remove(socket: Duplex): void {
    this.#heldRequests -= this.#open.get(socket)?.held ?? 0
    this.#open.delete(socket)
  }

  #closeLeastUsed(): void {
    let [least] = this.#open
    for (const each of this.#open) if (least && isLessUsed(each[1], least[1])) least = each
    if (least) this.#close(least[0])
  }
}

/** Connections without a request in progress come first. */
function isLessUsed(a: Connection, b: Connection): boolean {
  return !a.latest === !b.latest ? a.usedAt < b.usedAt : !a.latest
}

/** File descriptors kept for the database, the log and backups. */
const reserve = 128
const hardLimit = 10_000

/** The limit of file descriptors minus the reserve. Only Linux reports the limit, in the format of proc_pid_limits(5). */
export function maxConnections(): number {
  const limits = '/proc/self/limits'
  const text = existsSync(limits) ? readFileSync(limits, 'utf8') : ''
  // NaN for `unlimited`.
  const limit = Number(/^Max open files +(\d+)/m.exec(text)?.[1])
  return Number.isNaN(limit) ? hardLimit : Math.min(hardLimit, Math.max(limit - reserve, Math.floor(limit / 2)))
}
