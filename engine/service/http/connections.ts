import { existsSync, readFileSync } from 'node:fs'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

export interface Exchange {
  request: IncomingMessage
  response: ServerResponse
}

interface Busy extends Exchange {
  /** Pipelined requests that wait for the previous response. */
  held: number
}

/**
 * The open connections of a server. If there are too many, the one that was used least recently is closed. Otherwise clients
 * that keep theirs open would lock out all others.
 */
export class Connections {
  readonly #limits: { connections: number; heldRequests: number }
  /** Without a request in progress, the longest idle first. */
  readonly #idle = new Set<Duplex>()
  /** With a request in progress, the one that started first at the beginning. */
  readonly #busy = new Map<Duplex, Busy>()
  #heldRequests = 0

  constructor(limits: { connections: number; heldRequests: number }) {
    this.#limits = limits
  }

  /** The latest request on a connection, unless it is complete and has its response. */
  latest(socket: Duplex): Exchange | undefined {
    return this.#busy.get(socket)
  }

  add(socket: Duplex): void {
    this.#idle.add(socket)
    socket.once('close', () => this.#remove(socket))
    if (this.#idle.size + this.#busy.size <= this.#limits.connections) return
    // The new connection is idle itself.
    const [oldest = socket] = this.#idle.size > 1 ? this.#idle : this.#busy.keys()
    this.#close(oldest)
  }

  /**
   * Runs the requests of one connection one at a time: each starts when the previous response was sent. Node would start all
   * of them and keep their responses in memory: 13 KB of requests could take gigabytes.
   */
  run(request: IncomingMessage, response: ServerResponse, listener: RequestListener): void {
    const { socket } = request
    const previous = this.#busy.get(socket)
    const isClosed = !previous && !this.#idle.has(socket)
    // Nothing follows the final response.
    if (isClosed || !socket.writable) return
    const busy: Busy = { request, response, held: previous?.held ?? 0 }
    this.#idle.delete(socket)
    this.#busy.delete(socket)
    this.#busy.set(socket, busy)
    response.once('close', () => {
      // Idle connections must not keep their last exchange: at 256 of them, garbage collections paused three times as long.
      if (this.latest(socket)?.response !== response || !request.complete) return
      this.#busy.delete(socket)
      this.#idle.add(socket)
    })
    if (!previous || previous.response.closed) {
      listener(request, response)
      return
    }
    busy.held++
    if (++this.#heldRequests > this.#limits.heldRequests) {
      this.#close(socket)
      return
    }
    const pass = () => {
      const current = this.#busy.get(socket)
      if (!current) return
      current.held--
      this.#heldRequests--
      if (socket.writable && !response.writableEnded) listener(request, response)
    }
    // In a later turn of the event loop: other connections are served first.
    previous.response.once('close', () => setImmediate(pass))
  }

  /** Closes also the connections that Node no longer knows, which are those after CONNECT. */
  closeAll(): void {
    for (const socket of [...this.#idle, ...this.#busy.keys()]) this.#close(socket)
  }

  /** Before the event `close`, which comes later. */
  #close(socket: Duplex): void {
    this.#remove(socket)
    socket.destroy()
  }

  #remove(socket: Duplex): void {
    this.#heldRequests -= this.#busy.get(socket)?.held ?? 0
    this.#idle.delete(socket)
    this.#busy.delete(socket)
  }
}

/** File descriptors kept for the database, the log and backups. */
const reserve = 128
/** Maximum without regard to file descriptors. */
const hardLimit = 10_000

/** The limit of file descriptors minus the reserve. Only Linux reports the limit, in the format of proc_pid_limits(5). */
export function maxConnections(): number {
  const limits = '/proc/self/limits'
  const text = existsSync(limits) ? readFileSync(limits, 'utf8') : ''
  // NaN for `unlimited`.
  const limit = Number(/^Max open files +(\d+)/m.exec(text)?.[1])
  return Number.isNaN(limit) ? hardLimit : Math.min(hardLimit, Math.max(limit - reserve, Math.floor(limit / 2)))
}
