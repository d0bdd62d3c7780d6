import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { temporaryFolder } from './helpers.ts'

export const launcher = join(import.meta.dirname, '../server/launch.mjs')

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
export function runPetstore({ arguments: words = [], env = {}, folder = temporaryFolder() }: RunOptions = {}): Run {
  const child = spawn(process.execPath, [launcher, ...words], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', ...env },
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
  const run = runPetstore({ ...options, env: { PORT: '0', ...env } })
  const url = await waitForOutput(run, /listening at (http:[^"\s]+)/)
  return Object.assign(run, { url })
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

/** Where the banner shows the first key. */
export const bannerKey = /\b(pet_[0-9A-Za-z]{38})\b/
