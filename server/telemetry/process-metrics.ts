import { collectDefaultMetrics, type Registry } from '@prometheus-io/client'
import { metricFactory } from './metric-factory.ts'
import type { Output } from './output.ts'

/** Gauges whose names say counter, and whose collection visits every open socket. */
const unwanted = ['nodejs_active_resources', 'nodejs_active_handles', 'nodejs_active_requests']

/**
 * Adds the metrics of the process: CPU, memory, file descriptors, event loop, garbage collection, output. Call it once for
 * each process, because their timers run until it ends.
 */
export function addProcessMetrics(registry: Registry, outputs: Pick<Output, 'dropped'>[]): void {
  collectDefaultMetrics({
    register: registry,
    // Milliseconds. The default of 100 costs more and says no more.
    eventLoopUtilizationTimeout: 1_000,
  })
  for (const name of unwanted.flatMap((name) => [name, `${name}_total`])) registry.removeSingleMetric(name)
  metricFactory(registry).counter(
    'petstore_output_lines_dropped_total',
    'Lines of standard output and standard error that were dropped because the output did not accept them.',
    () => outputs.reduce((total, { dropped }) => total + dropped, 0),
  )
}
