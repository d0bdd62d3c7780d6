import type { Histogram } from '@prometheus-io/client'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { rejectionReasons } from '../api/errors.ts'
import type { RequestLabels } from '../http/request.ts'
import type { RequestResult } from './log.ts'
import type { MetricFactory } from './metric-factory.ts'

/** From half a millisecond, which is a usual response, to the time limit of a request. */
const buckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export function requestMetrics({ gauge, counter, histogram }: MetricFactory) {
  /** Bound to their labels, because finding a series by its labels takes longer than observing. */
  const bound = new Map<RequestLabels, Histogram.Internal<string>[]>()
  let running = 0
  let aborted = 0
  const duration = histogram(
    'request_duration_seconds',
    'Time from the request to the end of its response. Requests that the client gave up are not included.',
    buckets,
    ['adapter', 'operation', 'status'],
  )
  gauge('requests_in_flight', 'Requests whose response is not sent completely.', () => running)
  const abortedHelp = 'Requests whose connection was closed before the response was complete.'
  counter('requests_aborted_total', abortedHelp, () => aborted)
  const rejectedHelp = 'Requests that were rejected before they reached a procedure.'
  const rejected = counter('requests_rejected_total', rejectedHelp, undefined, ['reason'])
  for (const reason of rejectionReasons) rejected.inc({ reason }, 0)
  const replayed = counter(
    'idempotent_replays_total',
    'Mutations whose response repeated that of an earlier request with the same Idempotency-Key.',
  )

  return {
    countStarted: (): void => void running++,
    countEnded(request: FastifyRequest, reply: FastifyReply, labels: RequestLabels, result: RequestResult): void {
      running--
      if (!result.isComplete) aborted++
      else {
        const status = reply.statusCode
        const byStatus = bound.get(labels) ?? []
        bound.set(labels, byStatus)
        byStatus[status] ??= duration.labels({ ...labels, status })
        byStatus[status].observe(result.milliseconds / 1_000)
      }
      for (const isReplay of request.replayed ?? []) if (isReplay) replayed.inc()
      if (request.rejection) rejected.inc({ reason: request.rejection.reason })
    },
  }
}
