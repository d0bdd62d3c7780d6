import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { databaseOf } from './database.ts'
import { temporaryFolder } from './temporary.ts'

/** The words that run the real command. */
export const petstore = [process.execPath, join(import.meta.dirname, '../../server/launch.mjs')]

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
  /** The working folder, and so where the database is unless DATABASE_URL says otherwise. */
  folder?: string
}

/** Runs the real command in a process of its own, which does not outlive the test. */
export function runPetstore({ arguments: words = [], ...options }: RunOptions = {}): Run {
  return runCommand([...petstore, ...words], options)
}

/** Makes the database in a working folder, and a key in it. */
export async function createFirstKey(folder: string): Promise<string> {
  const run = runPetstore({ folder, arguments: ['keys', 'create', 'test'] })
  if ((await run.ended) !== 0) throw new Error(run.stderr)
  return run.stdout.trim()
}

/** Runs any command in a process of its own, which does not outlive the test. */
export function runCommand(
  [command = '', ...words]: string[],
  { env = {}, folder = temporaryFolder() }: Omit<RunOptions, 'arguments'> = {},
): Run {
  const child = spawn(command, words, {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', ...('DATABASE_URL' in env ? {} : databaseOf(folder)), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = once(child, 'close').then(([code, signal]) => code ?? signal)
  const run: Run = { child, stdout: '', stderr: '', ended }
  child.stdout.on('data', (chunk) => (run.stdout += chunk))
  child.stderr.on('data', (chunk) => (run.stderr += chunk))
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return run
}

export interface Server extends Run {
  url: string
}

/** Runs the service on a free port and waits until it listens. */
export async function startServer({ env = {}, ...options }: RunOptions = {}): Promise<Server> {
  return whenListening(runPetstore({ ...options, env: { PORT: '0', ...env } }))
}

export async function whenListening(run: Run): Promise<Server> {
  return Object.assign(run, { url: await waitForOutput(run, /listening at (http:[^"\s]+)/) })
}

/** Waits until the process has printed what the expression captures. */
export async function waitForOutput(run: Run, pattern: RegExp): Promise<string> {
  for (;;) {
    const found = pattern.exec(run.stdout)?.[1]
    if (found !== undefined) return found
    const isOver = await Promise.race([
      once(run.child.stdout as NodeJS.ReadableStream, 'data').then(() => false),
      run.ended.then(() => true),
    ])
    if (isOver && !pattern.test(run.stdout))
      throw new Error(`The process ended too soon.\n${run.stdout}\n${run.stderr}`)
  }
}

/** Options of Node's under which a leak shows soon: with more room, it leaves garbage lying about. */
export const smallHeap = { NODE_OPTIONS: '--max-old-space-size=96 --max-semi-space-size=8' }

/** The memory that the process occupies, in MiB; 0 where Linux's /proc does not tell. */
export function residentMemory({ child }: Run): number {
  const status = `/proc/${child.pid}/status`
  const [, kibibytes] = /VmRSS:\s+(\d+)/.exec(existsSync(status) ? readFileSync(status, 'utf8') : '') ?? []
  return Math.round(Number(kibibytes ?? 0) / 102.4) / 10
}

/** The first key, in the banner or in the log line with the same facts. */
export const bannerKey = /\b(pet_[0-9A-Za-z]{38})\b/
