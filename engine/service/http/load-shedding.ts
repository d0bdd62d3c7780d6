import { AsyncResource } from 'node:async_hooks'
import type { ServerResponse } from 'node:http'
import { getHeapStatistics } from 'node:v8'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { BaseStore } from '#store'
import { temporarilyUnavailable } from '../api/errors.ts'
import { callsOf } from './request.ts'

/** Calls that start in one turn of the event loop. The garbage of more large responses would survive collections. */
const callsPerTurn = 32
/** Milliseconds. A request that waits for longer before it starts is refused. */
const maxWait = 1_000
/** Bytes of responses that are computed, compressed or sent. */
const maxBytes = 128 * 1024 * 1024
/** Bytes of a response that is not counted, because the socket of the operating system takes it: counting costs CPU time. */
const maxUncounted = 16 * 1024
/** Turns that are left to the listener between two groups. */
const maxAcceptingTurns = 32
const maxShareOfHeap = 0.85
/** Milliseconds. */
const heapInterval = 100

export type LoadMeter = typeof processLoad

export const processLoad = {
  /** Milliseconds by the monotonic clock. */
  now: () => performance.now(),
  /** Used part of Node's heap limit, from 0 to 1. */
  heap() {
    const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics()
    return used / limit
  },
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Counts bytes of a response to a read before it is complete. Throws `unavailable` if there are too many. */
    countBytes(request: FastifyRequest, response: ServerResponse, bytes: number): void
  }
  interface FastifyRequest {
    /** Undefined before its handler. */
    unfinished: Unfinished | undefined
  }
}

interface Unfinished {
  /** Undefined after its end, because replaced tables of the Set keep their entries alive: see Connections. */
  response: ServerResponse | undefined
  bytes: number
  since: number
}

interface Waiting {
  request: FastifyRequest
  response: ServerResponse
  since: number
  /** Starts the request, or refuses it. */
  start: (error?: Error) => void
}

/**
 * Starts the requests of this Fastify instance in groups, one group in each turn of the event loop, so that a burst delays
 * neither health checks nor a stop. Responds 503 to a request that waited too long for its turn, while the heap is almost
 * full, and while unfinished responses have too many bytes. Groups also save CPU time, because what a turn does once serves all of them.
 */
export function shedLoad(app: FastifyInstance, meter: LoadMeter, store: Pick<BaseStore, 'inOneSnapshot'>): void {
  const waiting: Waiting[] = []
  let heap = { share: 0, at: Number.NEGATIVE_INFINITY }
  let hasAccepted = false
  let acceptingTurns = 0

  /** Node accepts one connection in each turn. While others wait, such as that of a health check, turns must be short. */
  function takeTurn(): void {
    if (hasAccepted && acceptingTurns++ < maxAcceptingTurns) {
      hasAccepted = false
      setImmediate(takeTurn)
      return
    }
    acceptingTurns = 0
    // A request alone has one read, or the two of its key.
    if (waiting.length > 1) store.inOneSnapshot(startGroup)
    else startGroup()
    if (waiting.length > 0) setImmediate(takeTurn)
  }

  function startGroup(): void {
    const now = meter.now()
    if (now - heap.at >= heapInterval) heap = { share: meter.heap(), at: now }
    for (let calls = 0; calls < callsPerTurn; ) {
      const next = waiting.shift()
      if (!next) return
      const { request, response, since, start } = next
      // Its client went away, or sent an invalid body.
      if (response.destroyed || response.writableEnded) continue
      start(now - since > maxWait || heap.share > maxShareOfHeap ? overloaded() : undefined)
      calls += callsOf(request)
    }
  }

  app.server.on('connection', () => (hasAccepted = true))

  app.addHook('onRequest', (request, { raw: response }, done) => {
    // Otherwise it would run in the asynchronous context of the first request of its group.
    const context = new AsyncResource('request.turn')
    const start = (error?: Error) => context.runInAsyncScope(done, undefined, error)
    waiting.push({ request, response, since: meter.now(), start })
    if (waiting.length === 1) setImmediate(takeTurn)
  })
  limitBytes(app, meter)
}

/** Refuses requests while the responses that are computed, compressed or sent have too many bytes. */
function limitBytes(app: FastifyInstance, meter: LoadMeter): void {
  /** The requests, in the order in which they began. */
  const all = new Set<Unfinished>()
  let total = 0
  app.decorateRequest('unfinished', undefined)

  function count(request: FastifyRequest, response: ServerResponse, bytes: number): void {
    // A destroyed response has emitted `close` already, so its bytes would count forever.
    if (response.destroyed) return
    request.unfinished ??= begin(response)
    total += bytes - request.unfinished.bytes
    request.unfinished.bytes = bytes
  }

  function begin(response: ServerResponse): Unfinished {
    const unfinished: Unfinished = { response, bytes: 0, since: meter.now() }
    all.add(unfinished)
    response.once('close', () => {
      total -= unfinished.bytes
      all.delete(unfinished)
      unfinished.response = undefined
    })
    return unfinished
  }

  /** Otherwise one client that does not read could stop the others for as long as its connections may stall. */
  function closeSlowestReader(): void {
    const now = meter.now()
    for (const { response, since } of all) {
      if (now - since <= maxWait) return
      if (response?.writableEnded) return void response.destroy()
    }
  }

  // After the check of the key: requests without a key must not use up the bytes.
  app.addHook('preHandler', (_request, _reply, done) => {
    if (total <= maxBytes) return done()
    closeSlowestReader()
    done(overloaded())
  })
  // With PostgreSQL, many requests may have passed the check before the first one gets its rows.
  app.decorate('countBytes', (request, response, bytes) => {
    if (total > maxBytes) throw overloaded()
    count(request, response, bytes)
  })
  app.addHook('onSend', (request, { raw: response }, payload, done) => {
    if (typeof payload === 'string' || payload instanceof Buffer) {
      const isCounted = payload.length > maxUncounted || request.unfinished
      if (isCounted) count(request, response, Buffer.byteLength(payload))
    }
    done(null, payload)
  })
}

function overloaded(): Error {
  return temporarilyUnavailable('The service has too much to do at the moment. Try again shortly.', {
    rejection: { reason: 'overloaded' },
  })
}
