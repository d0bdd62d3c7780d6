import { Gauge, Registry } from '@prometheus-io/client'
import manifest from '../../package.json' with { type: 'json' }
import { cacheMetrics } from './cache-metrics.ts'
import { RequestMetrics } from './request-metrics.ts'
import { StoreMetrics } from './store-metrics.ts'

/** A built package has its commit. A checkout, which may have changes, has none. */
const { version, gitHead = '' }: { version: string; gitHead?: string } = manifest

/** The metrics of one service. docs/monitoring.md describes each of them. */
export class Metrics {
  readonly registry = new Registry()
  readonly requests = new RequestMetrics(this.registry)
  readonly cacheLookups = cacheMetrics(this.registry)
  readonly store = new StoreMetrics(this.registry)
  readonly #ready = new Gauge({
    name: 'petstore_ready',
    help: '1 while /readyz responds 200, otherwise 0.',
    registers: [this.registry],
  })

  constructor() {
    const info = {
      name: 'petstore_build_info',
      help: 'Always 1. The labels have the version of the service, and the commit of its package or image.',
      labelNames: ['version', 'revision'],
    }
    new Gauge({ ...info, registers: [this.registry] }).set({ version, revision: gitHead }, 1)
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
