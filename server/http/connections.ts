import { readFileSync } from 'node:fs'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { temporarilyUnavailable } from '../api/errors.ts'
import type { limits } from './limits.ts'

export interface Exchange {
  request: IncomingMessage
  response: ServerResponse
}

interface Connection {
  /** The exchange of the latest request, until it is complete. */
  latest: Exchange | undefined
  /** Requests that were parsed but not passed to the application. */
  held: number
  /** The response that the application prepares or sends. */
  running: ServerResponse | undefined
  /** When it was opened, or its last response ended, by the monotonic clock in milliseconds. */
  idleSince: number
}

type Limits = { connections: number } & Pick<
  typeof limits,
  'heldRequests' | 'heldRequestsPerConnection' | 'silentTime' | 'unsentBytes'
>

/** How many requests start together. The garbage of more large responses would survive collections. */
const groupSize = 16

/** The open connections of a server, and the limits on what they may hold. */
export class Connections {
  readonly #limits: Limits
  /** The least recently used first. */
  readonly #open = new Map<Duplex, Connection>()
  /** Connections with bytes of a complete response left to send, the longest waiting first. */
  readonly #unsent = new Map<Duplex, number>()
  #unsentBytes = 0
  #heldRequests = 0
  #running = 0
  #aborted = 0
  /** Starts the requests that arrived in this turn of the event loop. */
  readonly #arrived: (() => void)[] = []

  constructor(limits: Limits) {
    this.#limits = limits
  }

  /** Requests that the application has and whose response is not sent completely. */
  get running(): number {
    return this.#running
  }

  /** Requests whose connection was closed before the response was complete. */
  get aborted(): number {
    return this.#aborted
  }

  latest(socket: Duplex): Exchange | undefined {
    return this.#open.get(socket)?.latest
  }

  add(socket: Duplex): void {
    const connection: Connection = { latest: undefined, held: 0, running: undefined, idleSince: performance.now() }
    this.#open.set(socket, connection)
    socket.once('close', () => {
      this.#open.delete(socket)
      this.#heldRequests -= connection.held
      this.#end(connection, connection.running)
    })
    // Node resumes the socket after each response.
    socket.on('resume', () => {
      if (connection.held > 0 && socket.writable) socket.pause()
    })
    if (this.#open.size > this.#limits.connections) this.#makeRoom(socket)
  }

  /**
   * Runs the requests of one connection one at a time: each starts when the previous response was sent. Reading is paused
   * while a request waits. Requests after the final response are ignored.
   *
   * Requests that arrive in the same turn of the event loop are first parsed and then started in groups, because that halves
   * the CPU time of gets: see decision 0031.
   */
  run(request: IncomingMessage, response: ServerResponse, listener: RequestListener): void {
    const { socket } = request
    const connection = this.#open.get(socket)
    if (!connection) return
    const previous = connection.latest?.response
    connection.latest = { request, response }
    this.#open.delete(socket)
    this.#open.set(socket, connection)
    response.once('prefinish', () => {
      if (socket.writableLength > 0 && !response.closed) this.#watchUnsent(socket, response)
    })
    const start = () => {
      if (response.closed || response.writableEnded) return
      connection.running = response
      this.#running++
      listener(request, response)
    }
    response.once('close', () => {
      this.#end(connection, response)
      connection.idleSince = performance.now()
      if (connection.held === 0 && socket.isPaused()) socket.resume()
      // Idle connections must not keep their last exchange: at 256 of them, garbage collections paused three times as long.
      if (connection.latest?.response === response && request.complete) connection.latest = undefined
    })
    if (socket.writable && (!previous || previous.closed)) {
      const isFirstOfGroup = this.#arrived.push(start) % groupSize === 1
      if (isFirstOfGroup) setImmediate(() => this.#startGroup())
      return
    }
    connection.held++
    this.#heldRequests++
    // Node parses all of a packet, which can hold thousands of requests, before the pause takes effect.
    if (connection.held > this.#limits.heldRequestsPerConnection) this.#close(socket)
    else if (this.#heldRequests > this.#limits.heldRequests) this.#closeLargestHolder()
    if (!socket.writable) return
    socket.pause()
    const pass = () => {
      if (!socket.writable) return
      connection.held--
      this.#heldRequests--
      if (connection.held === 0) socket.resume()
      start()
    }
    // In a later turn of the event loop: other connections are served first.
    previous?.once('close', () => setImmediate(pass))
  }

  /**
   * Limits what Node's timers do not, because every byte that a client sends restarts them: how long a client sends no
   * request, and how long it does not read. Call it every second.
   */
  check(): void {
    const now = performance.now()
    for (const [socket, connection] of this.#open) {
      // Then only progress of the response restarts the timer.
      if (socket.writableLength > 0) socket.pause()
      else if (isIdle(connection) && now - connection.idleSince > this.#limits.silentTime) this.#close(socket)
    }
  }

  /** Closes also the connections that Node no longer knows, which are those after CONNECT. */
  closeAll(): void {
    for (const socket of this.#open.keys()) this.#close(socket)
  }

  #startGroup(): void {
    for (const start of this.#arrived.splice(0, groupSize)) start()
  }

  #end(connection: Connection, response: ServerResponse | undefined): void {
    if (!response || connection.running !== response) return
    connection.running = undefined
    this.#running--
    if (!response.writableFinished) this.#aborted++
  }

  #watchUnsent(socket: Duplex, response: ServerResponse): void {
    this.#unsent.set(socket, socket.writableLength)
    this.#unsentBytes += socket.writableLength
    response.once('close', () => this.#forgetUnsent(socket))
    if (this.#unsentBytes > this.#limits.unsentBytes) this.#closeSlowReaders()
  }

  #forgetUnsent(socket: Duplex): void {
    this.#unsentBytes -= this.#unsent.get(socket) ?? 0
    this.#unsent.delete(socket)
  }

  #closeSlowReaders(): void {
    this.#unsentBytes = 0
    for (const socket of this.#unsent.keys()) {
      this.#unsent.set(socket, socket.writableLength)
      this.#unsentBytes += socket.writableLength
    }
    for (const socket of this.#unsent.keys()) {
      if (this.#unsentBytes <= this.#limits.unsentBytes) return
      this.#close(socket)
    }
  }

  /** Closes connections without a request in progress, the least recently used first; else the slowest reader. */
  #makeRoom(newest: Duplex): void {
    const idle = [...this.#open]
      .filter(([socket, connection]) => socket !== newest && isIdle(connection))
      .slice(0, Math.ceil(this.#limits.connections / 32))
    for (const [socket] of idle) this.#close(socket)
    if (idle.length > 0) return
    const [slowest = newest] = this.#unsent.keys()
    this.#close(slowest)
  }

  /** Closes the connection with the most held requests, of several the least recently used. */
  #closeLargestHolder(): void {
    const [largest] = [...this.#open].reduce((a, b) => (b[1].held > a[1].held ? b : a))
    this.#close(largest)
  }

  /** Updates the counts at once, because the event `close` comes later. */
  #close(socket: Duplex): void {
    const connection = this.#open.get(socket)
    if (connection) {
      this.#heldRequests -= connection.held
      connection.held = 0
    }
    this.#open.delete(socket)
    this.#forgetUnsent(socket)
    socket.destroy()
  }
}

function isIdle({ latest }: Connection): boolean {
  return !latest || latest.response.closed
}

/** File descriptors kept for the database, the log and backups. */
const reserve = 128
/** Maximum without regard to file descriptors. */
const hardLimit = 10_000

/** The limit of file descriptors minus the reserve. Only Linux reports the limit; elsewhere it is `hardLimit`. */
export function maxConnections(): number {
  const limit = descriptorLimit() ?? Number.POSITIVE_INFINITY
  return Math.min(hardLimit, Math.max(limit - reserve, Math.floor(limit / 2)))
}

/** How many files this process may have open. Only Linux shows it, in proc_pid_limits(5). */
function descriptorLimit(): number | undefined {
  try {
    const [, limit] = /^Max open files +(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    if (limit === undefined) return undefined
    return limit === 'unlimited' ? Number.POSITIVE_INFINITY : Number(limit)
  } catch {
    return undefined
  }
}

/** Calls back once: when the response was sent completely, or when its connection was closed before. */
export function whenEnded(response: ServerResponse, callback: (isComplete: boolean) => void): void {
  let hasEnded = false
  const end = (isComplete: boolean) => {
    if (!hasEnded) callback(isComplete)
    hasEnded = true
  }
  // A response to a closed connection finishes, too.
  response.once('finish', () => end(!response.destroyed)).once('close', () => end(false))
}

/** A signal that is aborted when the connection is closed before the response was sent completely. */
export function signalOf(response: ServerResponse): AbortSignal {
  const controller = new AbortController()
  // Without a cause, the error is not logged.
  const stop = () => controller.abort(temporarilyUnavailable('The client has closed the connection.'))
  if (response.destroyed) stop()
  whenEnded(response, (isComplete) => isComplete || stop())
  return controller.signal
}
