import type { Latencies } from '../load.ts'
import type { Load } from '../measure.ts'
import type { RunningServer, ServerName } from '../servers.ts'
import type { Target } from '../workloads.ts'
import type { IndependentLoad } from './loads.ts'
import { runWrk } from './wrk.ts'

/** A short measurement of one server. */
export interface Slice {
  /** Requests per second. */
  rate: number
  /** Microseconds of CPU time of the server per request. */
  userCpu: number
  systemCpu: number
  /** Responses other than 200 and 201. A closed loop has none. */
  failures: number
  /** The part of the time in which the load generator was asleep. If it hardly sleeps, it may be the limit. */
  asleep: number
  latencies: { all: Latencies; reads?: Latencies; creates?: Latencies }
}

/** The slices of one load in one round. */
export type Round = Partial<Record<ServerName, Slice>>

interface SliceOptions {
  /** Generates the open loops. */
  generator: Load
  /** For temporary files. */
  folder: string
  seconds: number
}

type Run = Pick<Slice, 'failures' | 'asleep' | 'latencies'> & { requests: number; seconds: number }

export async function measureSlice(
  server: RunningServer,
  target: Target,
  load: IndependentLoad,
  options: SliceOptions,
): Promise<Slice> {
  const before = server.cpuTimes()
  const { requests, seconds, ...result } = await run(target, load, options)
  const after = server.cpuTimes()
  return {
    rate: requests / seconds,
    userCpu: (after.user - before.user) / requests,
    systemCpu: (after.system - before.system) / requests,
    ...result,
  }
}

async function run(
  target: Target,
  { workload, connections, rate }: IndependentLoad,
  { generator, folder, seconds }: SliceOptions,
): Promise<Run> {
  if (rate === undefined) return runWrk(folder, { workload, target, connections, seconds })
  const job = { workload, targets: [target], connections, milliseconds: seconds * 1_000, rate }
  const { reads, creates, ...result } = await generator.run(job)
  return { ...result, latencies: { all: result, reads, creates } }
}
