import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { Job, Measurement } from './load.ts'
import type { Target, Workload } from './workloads.ts'

export interface Sample {
  /** Requests a second. */
  rate: number
  /** Microseconds of the server's CPU time for each request, and of that of its database server. */
  cpu: number
  databaseCpu: number
  /** Milliseconds. */
  p50: number
  p99: number
  /** Bytes of memory the server has at the end. */
  memory: number
}

/** A server, or several together. */
export interface Metered {
  cpuTime(): number
  /** Of the database server, if there is one. */
  databaseCpuTime?(): number
  residentMemory(): number
}

interface LoadOptions {
  workload: Workload
  connections: number
}

interface Durations {
  /** Milliseconds before what is measured. */
  warmUp: number
  measured: number
}

/** Milliseconds in which the requests under way are to be answered when the time of a load is over. */
const patience = 30_000

/** A process that puts load on servers. */
export class Load {
  readonly #child: ChildProcess = fork(new URL('load.ts', import.meta.url))
  readonly #death = once(this.#child, 'exit').then(() => Promise.reject(new Error('The load ended before its time.')))

  constructor() {
    // It is also its end when nobody waits for a measurement.
    this.#death.catch(() => {})
  }

  async run(job: Job): Promise<Measurement> {
    this.#child.send(job)
    const signal = AbortSignal.timeout(job.milliseconds + patience)
    const answer = once(this.#child, 'message', { signal })
    const [measurement] = (await Promise.race([answer, this.#death])) as [Measurement]
    if (measurement.failures > 0) throw new Error(`${measurement.failures} requests of ${job.workload} failed.`)
    return measurement
  }

  /** Ends the run that is under way before its time. */
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
    const { requests, seconds, p50, p99 } = await this.run({ ...options, targets, milliseconds: measured })
    const cpu = (server.cpuTime() - before) / requests
    const databaseCpu = (databaseCpuTime() - databaseBefore) / requests
    return { rate: requests / seconds, cpu, databaseCpu, p50, p99, memory: server.residentMemory() }
  }

  stop(): void {
    this.#child.disconnect()
  }
}

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  return ((sorted[Math.ceil(middle) - 1] ?? Number.NaN) + (sorted[Math.floor(middle)] ?? Number.NaN)) / 2
}

export function medianOf(samples: Sample[]): Sample {
  const of = (name: keyof Sample) => median(samples.map((sample) => sample[name]))
  return {
    rate: of('rate'),
    cpu: of('cpu'),
    databaseCpu: of('databaseCpu'),
    p50: of('p50'),
    p99: of('p99'),
    memory: of('memory'),
  }
}
