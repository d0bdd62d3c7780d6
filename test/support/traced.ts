import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type Run, waitForOutput } from '../../engine/test/support/process.ts'
import { temporaryFolder } from '../../engine/test/support/temporary.ts'
import { commandLine, createFirstKey } from './petstore.ts'

/**
 * Runs the service on an existing database as a child of strace. Every system permits tracing a child.
 *
 * @param optionsFor the options of strace for a database at this path
 */
export async function startTraced(optionsFor: (databasePath: string) => string[], env: Record<string, string> = {}) {
  const folder = temporaryFolder()
  const databasePath = join(folder, 'data/petstore.db')
  const trace = join(folder, 'trace')
  const key = await createFirstKey(folder)
  const child = spawn('strace', ['-f', '--seccomp-bpf', '-o', trace, ...optionsFor(databasePath), ...commandLine], {
    cwd: folder,
    env: { PATH: process.env.PATH, PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // Signals go to a new process group. After a signal to strace alone, the server would run on without strace.
    detached: true,
  })
  const ended = once(child, 'close').then(([code, signal]) => code ?? signal)
  const run: Run = { child, stdout: '', stderr: '', ended }
  child.stdout.on('data', (chunk) => (run.stdout += chunk))
  child.stderr.on('data', (chunk) => (run.stderr += chunk))
  const end = async (signal: NodeJS.Signals) => {
    if (child.pid && child.exitCode === null && child.signalCode === null) process.kill(-child.pid, signal)
    await ended
  }
  onTestFinished(() => end('SIGKILL'))
  const url = await waitForOutput(run, /listening at (http:[^"\s]+)/)
  return {
    server: { url },
    key,
    databasePath,
    /** The output so far. */
    log: () => run.stdout,
    /** The process id of the service, not of strace. */
    processId: Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')),
    /** Ends the server, and resolves to the path of the recording of its system calls. */
    async stop(): Promise<string> {
      await end('SIGTERM')
      return trace
    },
  }
}
