import { collectDefaultMetrics, Registry } from '@prometheus-io/client'
import type { FastifyInstance } from 'fastify'
import type { CacheLookups } from '../http/cache/revision-cache.ts'
import { atMostOnceASecond, type CheckReadiness } from '../http/health.ts'
import { labelRoutes } from '../http/request.ts'
import { serveReads } from '../http/routing.ts'
import { type Product, prefixOf } from '../product.ts'
import type { Output } from './log-output.ts'
import { type MetricFactory, metricFactory } from './metric-factory.ts'
import { requestMetrics } from './request-metrics.ts'
import { storeMetrics } from './store-metrics.ts'

/** Gauges whose collection visits every open socket. */
const unwanted = ['nodejs_active_resources', 'nodejs_active_handles', 'nodejs_active_requests']

export type Metrics = ReturnType<typeof createMetrics>

/** The metrics of one service. */
export function createMetrics({ command, version, revision = '' }: Pick<Product, 'command' | 'version' | 'revision'>) {
  const registry = new Registry()
  const factory = metricFactory(registry, prefixOf(command))
  const { gauge, counter } = factory
  const store = storeMetrics(factory)
  const buildHelp = 'Always 1. The labels have the version of the service, and the commit of its package or image.'
  gauge('build_info', buildHelp, () => [[{ version, revision }, 1]], ['version', 'revision'])
  return {
    requests: requestMetrics(factory),
    cacheLookups: cacheMetrics(factory),
    store,
    ready: gauge('ready', '1 while /readyz responds 200, otherwise 0.'),
    /** CPU, memory, descriptors, event loop, garbage collection, output. Call it once: its timers run until the process ends. */
    addProcess(outputs: Pick<Output, 'dropped'>[]): void {
      // Milliseconds. The default of 100 costs more and says no more.
      collectDefaultMetrics({ register: registry, eventLoopUtilizationTimeout: 1_000 })
      for (const name of unwanted.flatMap((name) => [name, `${name}_total`])) registry.removeSingleMetric(name)
      const help =
        'Lines of standard output and standard error that were dropped because the output did not accept them.'
      counter('output_lines_dropped_total', help, () => outputs.reduce((total, { dropped }) => total + dropped, 0))
    },
    /** All metrics in the text format of Prometheus, version 0.0.4. */
    async text(): Promise<string> {
      await store.update()
      return registry.metrics()
    },
  }
}

/** Returns the object in which each cache counts its lookups. */
function cacheMetrics({ counter }: MetricFactory) {
  const lookups = {
    rest_responses: { hits: 0, misses: 0 },
    rpc_responses: { hits: 0, misses: 0 },
    api_keys: { hits: 0, misses: 0 },
  } satisfies Record<string, CacheLookups>
  const addCounter = (count: keyof CacheLookups, help: string) =>
    counter(
      `cache_${count}_total`,
      help,
      () => Object.entries(lookups).map(([cache, counts]) => [{ cache }, counts[count]]),
      ['cache'],
    )
  addCounter('hits', 'Lookups whose value the cache had.')
  addCounter('misses', 'Lookups of a cacheable value that read the store.')
  return lookups
}

export async function metricsRoute(
  app: FastifyInstance,
  { metrics, check }: { metrics: Metrics; check: CheckReadiness },
): Promise<void> {
  labelRoutes(app, 'metrics')
  // Collecting takes milliseconds, in which no other request is served.
  const collect = atMostOnceASecond(async () => {
    const [readiness] = await Promise.allSettled([check()])
    metrics.ready.set(readiness.status === 'fulfilled' ? 1 : 0)
    return Buffer.from(await metrics.text())
  })
  serveReads(app, '/metrics', async (_request, reply) =>
    reply.type(Registry.PROMETHEUS_CONTENT_TYPE).send(await collect()),
  )
}
