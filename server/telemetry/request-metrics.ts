import { Counter, Gauge, Histogram, type Registry } from '@prometheus-io/client'
import { type RejectionReason, rejectionReasons } from '../api/errors.ts'
import type { RequestLabels } from '../http/request-labels.ts'

/** The requests of one HTTP server. */
interface RequestCounts {
  running: number
  aborted: number
}

/** From half a millisecond, which is a usual response, to the time limit of a request. */
const buckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export class RequestMetrics {
  readonly #duration: Histogram<'adapter' | 'operation' | 'status'>
  /** Bound to their labels, because finding a series by its labels takes longer than observing. */
  readonly #series = new Map<RequestLabels, Map<number, Histogram.Internal<string>>>()
  readonly #rejected: Counter<'reason'>
  readonly #replayed: Counter
  readonly #servers: RequestCounts[] = []

  constructor(registry: Registry) {
    const registers = [registry]
    const sum = (count: keyof RequestCounts) => this.#servers.reduce((total, server) => total + server[count], 0)
    this.#duration = new Histogram({
      name: 'petstore_request_duration_seconds',
      help: 'Time from the request to the end of its response. Requests that the client gave up are not included.',
      labelNames: ['adapter', 'operation', 'status'],
      buckets,
      registers,
    })
    new Gauge({
      name: 'petstore_requests_in_flight',
      help: 'Requests whose response is not sent completely.',
      registers,
      collect() {
        this.set(sum('running'))
      },
    })
    new Counter({
      name: 'petstore_requests_aborted_total',
      help: 'Requests whose connection was closed before the response was complete.',
      registers,
      collect() {
        this.reset()
        this.inc(sum('aborted'))
      },
    })
    this.#rejected = new Counter({
      name: 'petstore_requests_rejected_total',
      help: 'Requests that were rejected before they reached a procedure.',
      labelNames: ['reason'],
      registers,
    })
    for (const reason of rejectionReasons) this.#rejected.inc({ reason }, 0)
    this.#replayed = new Counter({
      name: 'petstore_idempotent_replays_total',
      help: 'Creates whose response repeated that of an earlier request with the same Idempotency-Key.',
      registers,
    })
  }

  /** Includes the requests of a server. */
  watch(server: RequestCounts): void {
    this.#servers.push(server)
  }

  observe(labels: RequestLabels, status: number, milliseconds: number): void {
    const series = this.#series.get(labels)?.get(status) ?? this.#addSeries(labels, status)
    series.observe(milliseconds / 1_000)
  }

  countRejected(reason: RejectionReason): void {
    this.#rejected.inc({ reason })
  }

  countReplay(): void {
    this.#replayed.inc()
  }

  #addSeries(labels: RequestLabels, status: number): Histogram.Internal<string> {
    const byStatus = this.#series.get(labels) ?? new Map<number, Histogram.Internal<string>>()
    this.#series.set(labels, byStatus)
    const series = this.#duration.labels({ ...labels, status })
    byStatus.set(status, series)
    return series
  }
}
