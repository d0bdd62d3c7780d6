import { Registry } from '@prometheus-io/client'
import manifest from '../package.json' with { type: 'json' }
import { cacheMetrics } from './cache-metrics.ts'
import { metricFactory } from './metric-factory.ts'
import { requestMetrics } from './request-metrics.ts'
import { storeMetrics } from './store-metrics.ts'

/** The metrics of one service. docs/reference/metrics.md describes each of them. */
export class Metrics {
  readonly registry = new Registry()
  readonly #factory = metricFactory(this.registry)
  readonly requests = requestMetrics(this.#factory)
  readonly cacheLookups = cacheMetrics(this.#factory)
  readonly store = storeMetrics(this.#factory)
  readonly #ready = this.#factory.gauge('petstore_ready', '1 while /readyz responds 200, otherwise 0.')

  constructor() {
    const help = 'Always 1. The label has the version of the service.'
    this.#factory.gauge('petstore_build_info', help, () => [[{ version: manifest.version }, 1]], ['version'])
  }

  setReady(isReady: boolean): void {
    this.#ready.set(isReady ? 1 : 0)
  }

  /** All metrics in the text format of Prometheus, version 0.0.4. */
  async text(): Promise<string> {
    await this.store.update()
    return this.registry.metrics()
  }
}
