import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import type { Product } from '../../service/product.ts'
import { type Run, runCommand, waitForOutput } from './process.ts'
import { temporaryFolder } from './temporary.ts'

/** Whether strace is installed and permitted. */
export function canTrace(): boolean {
  return spawnSync('strace', ['-f', '--seccomp-bpf', '-e', 'trace=fsync', 'true']).status === 0
}

/**
 * Words before a command line that delay each of these system calls by so many milliseconds, by default on all files. The
 * process stays the child. Without strace there are no words.
 */
export function slowed(calls: string, milliseconds: number, path?: string): string[] {
  if (!canTrace()) return []
  const options = ['-e', `trace=${calls}`, '-e', `inject=${calls}:delay_exit=${milliseconds * 1_000}`]
  return ['strace', '-D', '-f', '--seccomp-bpf', '-qq', '-o', '/dev/null', ...options, ...(path ? ['-P', path] : [])]
}

/** Options of strace that simulate a disk. Its first five syncs succeed, and each later one hangs for a minute. */
export function hangingDisk(databasePath: string): string[] {
  return [
    ...['-P', `${databasePath}-wal`, '-e', 'trace=fsync,fdatasync'],
    ...['-e', 'inject=fsync,fdatasync:delay_enter=60000000:when=6+'],
  ]
}

/** Options of strace that make system calls on the files of a database fail. */
export function failingCalls(databasePath: string, calls: string, error: string): string[] {
  const paths = ['', '-wal', '-shm', '-journal'].flatMap((suffix) => ['-P', databasePath + suffix])
  return [...paths, '-e', `trace=${calls}`, '-e', `inject=${calls}:error=${error}`]
}

/** Attaches strace to a running process. Detaches it when the returned function is called, or at the end of the test. */
export async function attachStrace(processId: number | undefined, options: string[]): Promise<() => Promise<void>> {
  const strace = runCommand(['strace', '-f', '-o', '/dev/null', ...options, '-p', String(processId)])
  await expect.poll(() => strace.stderr).toContain('attached')
  return async () => {
    strace.child.kill('SIGINT')
    await strace.ended
  }
}

export interface Traced {
  server: { url: string }
  key: string
  databasePath: string
  /** The output so far. */
  log: () => string
  /** The process id of the service, not of strace. */
  processId: number
  /** Ends the server, and resolves to the path of the recording of its system calls. */
  stop: () => Promise<string>
}

export function tracedTests(
  product: Product,
  commandLine: string[],
  { createFirstKey }: { createFirstKey(folder: string): Promise<string> },
) {
  /** Runs the service on an existing database as a child of strace. Every system permits tracing a child. */
  async function startTraced(
    optionsFor: (databasePath: string) => string[],
    env: Record<string, string> = {},
  ): Promise<Traced> {
    const folder = temporaryFolder()
    const databasePath = join(folder, `data/${product.command}.db`)
    const trace = join(folder, 'trace')
    const key = await createFirstKey(folder)
    const child = spawn('strace', ['-f', '--seccomp-bpf', '-o', trace, ...optionsFor(databasePath), ...commandLine], {
      cwd: folder,
      env: { PATH: process.env.PATH, PORT: '0', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      // Signals go to a new process group. After a signal to strace alone, the server would run on without strace.
      detached: true,
    })
    const closed = once(child, 'close').then(([code, signal]) => code ?? signal)
    const run: Run = { child, stdout: '', stderr: '', ended: closed }
    child.stdout.on('data', (chunk) => (run.stdout += chunk))
    child.stderr.on('data', (chunk) => (run.stderr += chunk))
    const end = async (signal: NodeJS.Signals) => {
      if (child.pid && child.exitCode === null && child.signalCode === null) process.kill(-child.pid, signal)
      await closed
    }
    onTestFinished(() => end('SIGKILL'))
    const url = await waitForOutput(run, /listening at (http:[^"\s]+)/)
    return {
      server: { url },
      key,
      databasePath,
      log: () => run.stdout,
      processId: Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')),
      stop: async () => {
        await end('SIGTERM')
        return trace
      },
    }
  }

  return { startTraced }
}
