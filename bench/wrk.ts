import { execFile, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

export interface Requests {
  kind: 'get' | 'page' | 'hot' | 'create'
  connections: number
  /** Requests per second of all connections together, which pause for random times. By default they do not pause. */
  pace?: number
}

export interface Target {
  port: number
  key: string
  /** The number of pets at the start. */
  pets: number
}

export interface WrkResult {
  requests: number
  microseconds: number
  /** Requests without a response, and responses other than 2xx and 3xx. */
  failures: number
  /** In microseconds. */
  p50: number
  p99: number
}

/**
 * Runs wrk (https://github.com/wg/wrk) with one thread: each connection sends its next request after its response.
 *
 * @param seed the same one makes the same requests
 * @throws {Error} if a request failed
 */
export async function runWrk(requests: Requests, target: Target, seconds: number, seed: number): Promise<WrkResult> {
  const { kind, connections, pace } = requests
  const pause = pace ? Math.round((connections / pace) * 1_000) : 0
  const script = ['-s', join(import.meta.dirname, 'requests.lua'), `http://127.0.0.1:${target.port}`]
  // With the default timeout of 2 s, wrk would count a slow response as failed.
  const options = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '30s', ...script]
  const words = [kind, target.key, `${target.pets}`, `${seed}`, `${pause}`]
  const { stdout } = await promisify(execFile)('wrk', [...options, '--', ...words])
  // Safe: requests.lua prints this as the last line.
  const result = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as WrkResult
  if (result.failures > 0) throw new Error(`${result.failures} of ${result.requests} requests failed (${kind}).`)
  return result
}

/** Stops with a sentence if a program is missing. */
export function requirePrograms(...programs: string[]): void {
  const missing = programs.filter((program) => spawnSync(program, ['-v']).error).join(' ')
  if (missing === '') return
  process.stderr.write(`The benchmark needs programs that are missing: sudo apt-get install ${missing}\n`)
  process.exit(1)
}

/** The name and version of wrk, which it prints with its usage. */
export function wrkVersion(): string {
  return spawnSync('wrk', ['-v'], { encoding: 'utf8' }).stdout.split(' [')[0] ?? ''
}
