import { execFile, spawnSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Latencies } from '../load.ts'
import { type Target, type Workload, workloads } from '../workloads.ts'

/** wrk (https://github.com/wg/wrk) as the generator of closed loops: each connection sends as soon as its response arrives. */

interface WrkJob {
  workload: Workload
  target: Target
  connections: number
  seconds: number
}

/** Microseconds, as wrk reports them. */
interface WrkResult extends Latencies {
  requests: number
  microseconds: number
  /** Seconds of CPU time of wrk. */
  cpuSeconds: number
  failures: number
}

export interface WrkMeasurement {
  requests: number
  seconds: number
  failures: 0
  asleep: number
  /** wrk adds the latencies that a pause hid from the closed loop (correction of coordinated omission). */
  latencies: { all: Latencies }
}

/** The number of prepared requests, which wrk repeats. It is large enough that no response cache holds their responses. */
const prepared = 5_000

/**
 * Runs wrk with one thread.
 *
 * @param folder for the file with the requests
 * @throws if a request failed
 */
export async function runWrk(
  folder: string,
  { workload, target, connections, seconds }: WrkJob,
): Promise<WrkMeasurement> {
  const file = join(folder, 'requests')
  const next = workloads[workload](target)
  writeFileSync(file, Buffer.concat(Array.from({ length: prepared }, () => [next(), Buffer.of(0)]).flat()))
  const script = join(import.meta.dirname, 'requests.lua')
  // With the default timeout of 2 s, wrk would count a slow response as failed.
  const words = [`-c${connections}`, `-d${seconds}s`, '--timeout', '10s', '-s', script, urlOf(target), '--', file]
  const { stdout } = await promisify(execFile)('wrk', ['-t1', ...words])
  rmSync(file)
  // Safe: requests.lua prints this as the last line.
  const result = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as WrkResult
  if (result.failures > 0) throw new Error(`${result.failures} requests of ${workload} failed.`)
  const all = { p50: result.p50 / 1_000, p99: result.p99 / 1_000, p999: result.p999 / 1_000 }
  const elapsed = result.microseconds / 1e6
  const asleep = 1 - result.cpuSeconds / elapsed
  return { requests: result.requests, seconds: elapsed, failures: 0, asleep, latencies: { all } }
}

function urlOf({ port }: Target): string {
  return `http://127.0.0.1:${port}`
}

/** The name and version of wrk, which it prints with its usage. */
export function wrkVersion(): string {
  const { stdout } = spawnSync('wrk', ['-v'], { encoding: 'utf8' })
  return stdout.split(' [')[0] ?? ''
}
