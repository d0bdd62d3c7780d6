import { Registry } from '@prometheus-io/client'
import manifest from '../../package.json' with { type: 'json' }
import { cacheMetrics } from './cache-metrics.ts'
import { metricFactory } from './metric-factory.ts'
import { requestMetrics } from './request-metrics.ts'
import { storeMetrics } from './store-metrics.ts'

/** A built package has its commit. A checkout, which may have changes, has none. */
const { version, gitHead = '' }: { version: string; gitHead?: string } = manifest

/** The metrics of one service. docs/reference/metrics.md describes each of them. */
export class Metrics {
  readonly registry = new Registry(Registry.OPENMETRICS_CONTENT_TYPE)
  readonly #factory = metricFactory(this.registry)
  readonly requests = requestMetrics(this.#factory)
  readonly cacheLookups = cacheMetrics(this.#factory)
  readonly store = storeMetrics(this.#factory)
  readonly #ready = this.#factory.gauge('petstore_ready', '1 while /readyz responds 200, otherwise 0.')

  constructor() {
    const help = 'Always 1. The labels have the version of the service, and the commit of its package or image.'
    const samples: [Record<string, string>, number][] = [[{ version, revision: gitHead }, 1]]
    this.#factory.gauge('petstore_build_info', help, () => samples, ['version', 'revision'])
  }

  setReady(isReady: boolean): void {
    this.#ready.set(isReady ? 1 : 0)
  }

  /** All metrics in the text format of OpenMetrics 1.0, which has exemplars. */
  async text(): Promise<string> {
    await this.store.update()
    return this.registry.metrics()
  }
}
