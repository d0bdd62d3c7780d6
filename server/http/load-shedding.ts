import { monitorEventLoopDelay } from 'node:perf_hooks'
import { getHeapStatistics } from 'node:v8'
import type { FastifyInstance } from 'fastify'
import { temporarilyUnavailable } from '../api/errors.ts'

/** Milliseconds by which the event loop may lag, on average over a second. */
const maxLag = 250
/** Share of Node's heap limit. */
const maxShareOfHeap = 0.85
const sampleInterval = 1_000
const resolution = 10

/** Responds 503 while the event loop lags or the heap is almost full. Accepted requests are then served in time. */
export function shedLoad(app: FastifyInstance): void {
  const delay = monitorEventLoopDelay({ resolution })
  let isOverloaded = false
  let timer: NodeJS.Timeout | undefined
  function sample(): void {
    const lag = delay.mean / 1e6 - resolution
    const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics()
    // NaN without samples, if the event loop was blocked the whole time.
    isOverloaded = Number.isNaN(lag) || lag > maxLag || used > limit * maxShareOfHeap
    delay.reset()
  }
  // Not before: the start itself blocks the event loop, and on a busy machine for so long that it would count as overload.
  app.addHook('onReady', async () => {
    delay.enable()
    timer = setInterval(sample, sampleInterval).unref()
  })
  app.addHook('onClose', async () => {
    clearInterval(timer)
    delay.disable()
  })
  app.addHook('onRequest', (_request, _reply, done) => done(isOverloaded ? overloaded() : undefined))
}

function overloaded(): Error {
  return temporarilyUnavailable(
    'The service has too much to do at the moment. Try again shortly.',
    undefined,
    'overloaded',
  )
}
