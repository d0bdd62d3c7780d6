import { Counter, Gauge, Histogram, type Registry } from '@prometheus-io/client'

/** Returns the value at a scrape: undefined for no series, or a value for each set of labels. */
type Read = () => number | undefined | [labels: Record<string, string>, value: number][]

export type MetricFactory = ReturnType<typeof metricFactory>

/** Adds metrics to a registry. One with `read` shows at each scrape what that returns. */
export function metricFactory(registry: Registry, prefix: string) {
  const optionsOf = (name: string, help: string, labelNames: string[]) => ({
    name: prefix + name,
    help,
    labelNames,
    registers: [registry],
  })
  return {
    gauge: (name: string, help: string, read?: Read, labelNames: string[] = []) =>
      new Gauge({ ...optionsOf(name, help, labelNames), ...(read && { collect: collector(read) }) }),
    counter: (name: string, help: string, read?: Read, labelNames: string[] = []) =>
      new Counter({ ...optionsOf(name, help, labelNames), ...(read && { collect: collector(read) }) }),
    histogram: (name: string, help: string, buckets: number[], labelNames: string[] = []) =>
      new Histogram({ ...optionsOf(name, help, labelNames), buckets }),
  }
}

function collector(read: Read) {
  return function collect(this: Gauge<string> | Counter<string>): void {
    // A metric without labels has the value 0 now, and one with labels has no series.
    this.reset()
    const value = read()
    if (value === undefined) this.remove()
    else for (const [labels, each] of typeof value === 'number' ? [[{}, value] as const] : value) this.inc(labels, each)
  }
}
