import { getHeapStatistics } from 'node:v8'
import underPressure from '@fastify/under-pressure'
import type { FastifyInstance } from 'fastify'
import { ApiError } from './errors.ts'

/** Milliseconds by which the event loop may lag, on average over a second. */
const longestLag = 250
/** Of the memory that Node gives JavaScript. */
const largestShareOfHeap = 0.85

/** Turns requests away while the process has more to do than it can, so that those it takes on are answered in time. */
export async function shedLoad(app: FastifyInstance): Promise<void> {
  await app.register(underPressure, {
    maxEventLoopDelay: longestLag,
    maxHeapUsedBytes: getHeapStatistics().heap_size_limit * largestShareOfHeap,
    // Not a fault that the log should hold with its stack for each request: it would be the next thing to do too much.
    async pressureHandler() {
      throw new ApiError('unavailable', 'The service has too much to do at the moment. Try again shortly.', {
        headers: { 'retry-after': '1' },
      })
    },
  })
}
