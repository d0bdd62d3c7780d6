import { monitorEventLoopDelay } from 'node:perf_hooks'
import { getHeapStatistics } from 'node:v8'
import type { FastifyInstance } from 'fastify'
import { temporarilyUnavailable } from '../api/errors.ts'

/** Milliseconds by which the event loop may lag, on average over a second. */
const maxLag = 250
const maxShareOfHeap = 0.85
const sampleInterval = 1_000
const resolution = 10

export interface Load {
  /** Milliseconds by which the event loop lagged, on average since the last call. NaN if it was blocked the whole time. */
  lag: number
  /** Used part of Node's heap limit, from 0 to 1. */
  heap: number
}

/** Measures the load of the process from `start` to `stop`. */
export interface LoadMeter {
  start(): void
  read(): Load
  stop(): void
}

export function processLoad(): LoadMeter {
  const delay = monitorEventLoopDelay({ resolution })
  return {
    start: () => void delay.enable(),
    read() {
      const lag = delay.mean / 1e6 - resolution
      delay.reset()
      const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics()
      return { lag, heap: used / limit }
    },
    stop: () => void delay.disable(),
  }
}

/** Responds 503 while the event loop lags or the heap is almost full. Accepted requests are then served in time. */
export function shedLoad(app: FastifyInstance, meter: LoadMeter): void {
  let isOverloaded = false
  let timer: NodeJS.Timeout | undefined
  function sample(): void {
    const { lag, heap } = meter.read()
    isOverloaded = Number.isNaN(lag) || lag > maxLag || heap > maxShareOfHeap
  }
  // Not before: the start itself blocks the event loop, and on a busy machine for so long that it would count as overload.
  app.addHook('onReady', async () => {
    meter.start()
    timer = setInterval(sample, sampleInterval).unref()
  })
  app.addHook('onClose', async () => {
    clearInterval(timer)
    meter.stop()
  })
  app.addHook('onRequest', (_request, _reply, done) => done(isOverloaded ? overloaded() : undefined))
}

function overloaded(): Error {
  return temporarilyUnavailable('The service has too much to do at the moment. Try again shortly.', {
    rejection: { reason: 'overloaded' },
  })
}
