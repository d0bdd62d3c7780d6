import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import type { Location } from '../../store/database/location.ts'
import type { WithApiKeys } from '../../store/keys.ts'
import { openStore } from '../../store/open.ts'
import { databaseOf } from './database.ts'
import type { ProductFixtures } from './product.ts'
import { connectRestClient } from './rest-client.ts'
import { share } from './share.ts'
import { type AtEnd, temporaryFolder } from './temporary.ts'
import type { Tested } from './tested.ts'

export interface Run {
  child: ChildProcess
  stdout: string
  stderr: string
  /** Resolves with the exit code, or the signal that ended the process. */
  ended: Promise<number | NodeJS.Signals>
}

interface RunOptions {
  arguments?: string[]
  env?: Record<string, string>
  /** The working folder. The database is in it, unless DATABASE_URL is set. */
  folder?: string
  /** Makes it the leader of a process group, which is killed with it. Signals to strace alone would leave its child running. */
  isGroup?: boolean
  stdin?: 'ignore' | 'pipe'
  atEnd?: AtEnd
}

/** Runs a command in a child process that is killed at the end of the test. A service in it takes a free port. */
export function runCommand(
  [command = '', ...words]: string[],
  {
    env = {},
    atEnd = onTestFinished,
    folder = temporaryFolder(atEnd),
    isGroup = false,
    stdin = 'ignore',
  }: Omit<RunOptions, 'arguments'> = {},
): Run {
  const child = spawn(command, words, {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', PORT: '0', ...('DATABASE_URL' in env ? {} : databaseOf(folder)), ...env },
    stdio: [stdin, 'pipe', 'pipe'],
    detached: isGroup,
  })
  const ended = once(child, 'close').then(([code, signal]) => code ?? signal)
  const run: Run = { child, stdout: '', stderr: '', ended }
  child.stdout?.on('data', (chunk) => (run.stdout += chunk))
  child.stderr?.on('data', (chunk) => (run.stderr += chunk))
  atEnd(async () => {
    if (isGroup && child.pid && child.exitCode === null && child.signalCode === null)
      process.kill(-child.pid, 'SIGKILL')
    else child.kill('SIGKILL')
    await ended
  })
  return run
}

export interface Server extends Run {
  url: string
}

/** Runs the program of a product. */
export function processFixtures<Stores extends WithApiKeys>(
  { service, commandLine }: Tested<Stores, unknown>,
  { product, createKey }: ProductFixtures,
  { locationOf }: { locationOf(folder: string): Location },
) {
  /** Runs the program in a child process that is killed at the end of the test. */
  function runProgram({ arguments: words = [], ...options }: RunOptions = {}): Run {
    return runCommand([...commandLine, ...words], options)
  }

  /** Runs a command of the program, and expects that it succeeds. Resolves to what it has written. */
  async function runToEnd(options: RunOptions): Promise<Run> {
    const run = runProgram(options)
    expect(await run.ended, run.stderr).toBe(0)
    return run
  }

  /** Runs the service and waits until it listens. */
  async function startServer(options?: RunOptions): Promise<Server> {
    return whenListening(runProgram(options))
  }

  /** Captures the first API key in the banner, or in the log line with the same values. */
  const bannerKey = new RegExp(`\\b(${product.keyPrefix}[0-9A-Za-z]{38})\\b`)

  return {
    /** The words that start the command line. */
    commandLine,
    runProgram,
    runToEnd,
    startServer,
    /** Starts the service, by default on a new database, and reads its first API key. */
    async startWithKey(env: Record<string, string> = {}, folder = temporaryFolder()) {
      const server = await startServer({ folder, env })
      const key = await waitForOutput(server, bannerKey)
      return { server, folder, key, rest: connectRestClient(server.url, key) }
    },
    /** Shares one process among the tests of a group. Call it in `describe`. */
    shareServer: (options: RunOptions = {}) => share((atEnd) => startServer({ ...options, atEnd })),
    /** Creates a database in a working folder, with an API key. */
    async createFirstKey(folder: string): Promise<string> {
      const store = await openStore(service.store, locationOf(folder), { busyTimeout: 250 })
      try {
        return await createKey(store, 'test')
      } finally {
        await store.close()
      }
    },
    bannerKey,
  }
}

export type ProcessFixtures = ReturnType<typeof processFixtures>

export async function whenListening(run: Run): Promise<Server> {
  return Object.assign(run, { url: await waitForOutput(run, /listening at (http:[^"\s]+)/) })
}

/** Waits until the output of the process matches the pattern, and returns its first group. */
export async function waitForOutput(run: Run, pattern: RegExp): Promise<string> {
  for (;;) {
    const found = pattern.exec(run.stdout)?.[1]
    if (found !== undefined) return found
    const isOver = await Promise.race([
      once(run.child.stdout as NodeJS.ReadableStream, 'data').then(() => false),
      run.ended.then(() => true),
    ])
    if (isOver && !pattern.test(run.stdout))
      throw new Error(`The process ended before its output matched ${pattern}.\n${run.stdout}\n${run.stderr}`)
  }
}

/** Ends the service as a process manager does, and expects that nothing was wrong. */
export async function stopService({ child, ended }: Run): Promise<void> {
  child.kill('SIGTERM')
  expect(await ended).toBe(0)
}

/** Makes a leak visible early. With a larger heap, Node collects garbage late. */
export const smallHeap = { NODE_OPTIONS: '--max-old-space-size=96 --max-semi-space-size=8' }

/** The paths of the files that a process has open. Only Linux lists them. */
export function openFilesOf(pid: number | 'self' | undefined): string[] {
  const folder = `/proc/${pid}/fd`
  return readdirSync(folder).flatMap((descriptor) => {
    try {
      return readlinkSync(join(folder, descriptor))
    } catch {
      // It was closed meanwhile.
      return []
    }
  })
}

/** The resident memory of the process in MiB, or 0 without Linux's /proc. */
export function residentMemory({ child }: Run): number {
  const status = `/proc/${child.pid}/status`
  const [, kibibytes] = /VmRSS:\s+(\d+)/.exec(existsSync(status) ? readFileSync(status, 'utf8') : '') ?? []
  return Math.round(Number(kibibytes ?? 0) / 102.4) / 10
}

/** Growth of memory in MiB from the first sample to the last, by linear regression (least squares). */
export function memoryGrowth(samples: { requests: number; memory: number }[]): number {
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const [meanX, meanY] = [mean(samples.map(({ requests }) => requests)), mean(samples.map(({ memory }) => memory))]
  const covariance = mean(samples.map(({ requests, memory }) => (requests - meanX) * (memory - meanY)))
  const slope = covariance / mean(samples.map(({ requests }) => (requests - meanX) ** 2))
  return slope * ((samples.at(-1)?.requests ?? 0) - (samples[0]?.requests ?? 0))
}
