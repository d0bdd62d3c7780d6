import { collectDefaultMetrics, type Registry } from '@prometheus-io/client'

/** Gauges whose names say counter, and whose collection visits every open socket. */
const unwanted = ['nodejs_active_resources', 'nodejs_active_handles', 'nodejs_active_requests']

/**
 * Adds the metrics of the process: CPU, memory, file descriptors, event loop, garbage collection. Call it once for each
 * process, because their timers run until it ends.
 */
export function addProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({
    register: registry,
    // Milliseconds. The default of 100 costs more and says no more.
    eventLoopUtilizationTimeout: 1_000,
  })
  for (const name of unwanted.flatMap((name) => [name, `${name}_total`])) registry.removeSingleMetric(name)
}
