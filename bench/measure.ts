import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { Job, Measurement } from './load.ts'
import type { Target, Workload } from './workloads.ts'

export interface Sample {
  /** Requests per second. */
  rate: number
  /** Microseconds of CPU time per request, of the server and of its database server. */
  cpu: number
  databaseCpu: number
  /** Milliseconds. */
  p50: number
  p99: number
  /** The part of the time in which the load generator was asleep. */
  asleep: number
  /** Resident memory of the server at the end, in bytes. */
  memory: number
}

/** The resource use of a server, or the sum of several. */
export interface Metered {
  cpuTime(): number
  /** CPU time of the database server, if there is one. */
  databaseCpuTime?(): number
  residentMemory(): number
}

interface LoadOptions {
  workload: Workload
  connections: number
}

interface Durations {
  /** Milliseconds of load before the measurement. */
  warmUp: number
  measured: number
}

/** Milliseconds that the requests in flight may take after the end of a load. */
const gracePeriod = 30_000

/** A load generator process. */
export class Load {
  readonly #child: ChildProcess = fork(new URL('load.ts', import.meta.url), {
    // JSON has no NaN, which is the latency of a kind of request that a load does not have.
    serialization: 'advanced',
  })
  readonly #death = once(this.#child, 'exit').then(() =>
    Promise.reject(new Error('The load generator ended unexpectedly.')),
  )

  constructor() {
    // A rejection must be handled even while no measurement waits for it, for example after stop().
    this.#death.catch(() => {})
  }

  /** @throws if a request of a closed loop failed. An open loop reports failures: it may ask for more than a server can do. */
  async run(job: Job): Promise<Measurement> {
    this.#child.send(job)
    const signal = AbortSignal.timeout(job.milliseconds + gracePeriod)
    const result = once(this.#child, 'message', { signal })
    // Safe: load.ts sends one Measurement for each job.
    const [measurement] = (await Promise.race([result, this.#death])) as [Measurement]
    if (measurement.failures > 0 && job.rate === undefined)
      throw new Error(`${measurement.failures} requests of ${job.workload} failed.`)
    return measurement
  }

  /** Ends the current run early. */
  endRun(): void {
    this.#child.send('end')
  }

  async measure(
    server: Metered,
    targets: Target[],
    options: LoadOptions,
    { warmUp, measured }: Durations,
  ): Promise<Sample> {
    const databaseCpuTime = () => server.databaseCpuTime?.() ?? 0
    await this.run({ ...options, targets, milliseconds: warmUp })
    const [before, databaseBefore] = [server.cpuTime(), databaseCpuTime()]
    const { requests, seconds, p50, p99, asleep } = await this.run({ ...options, targets, milliseconds: measured })
    const cpu = (server.cpuTime() - before) / requests
    const databaseCpu = (databaseCpuTime() - databaseBefore) / requests
    return { rate: requests / seconds, cpu, databaseCpu, p50, p99, asleep, memory: server.residentMemory() }
  }

  stop(): void {
    this.#child.disconnect()
  }
}

export interface Quartiles {
  lower: number
  median: number
  upper: number
}

/** Quartiles with linear interpolation between the two nearest values. */
export function quartiles(values: number[]): Quartiles {
  const sorted = values.toSorted((a, b) => a - b)
  const quantile = (share: number) => {
    const position = (sorted.length - 1) * share
    const below = sorted[Math.floor(position)] ?? Number.NaN
    const above = sorted[Math.ceil(position)] ?? Number.NaN
    return below + (above - below) * (position % 1)
  }
  return { lower: quantile(0.25), median: quantile(0.5), upper: quantile(0.75) }
}

export function median(values: number[]): number {
  return quartiles(values).median
}

export function medianOf(samples: Sample[]): Sample {
  const of = (name: keyof Sample) => median(samples.map((sample) => sample[name]))
  return {
    rate: of('rate'),
    cpu: of('cpu'),
    databaseCpu: of('databaseCpu'),
    p50: of('p50'),
    p99: of('p99'),
    asleep: of('asleep'),
    memory: of('memory'),
  }
}
