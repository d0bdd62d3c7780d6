import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants, setPriority } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'

/** Milliseconds between the request to stop and SIGKILL. */
const killDelay = 2_000
/** Milliseconds to read the rest of standard error. A process that the program left behind may keep it open. */
const maxReadTime = 1_000
/** Characters of the end of standard error. */
const maxProblem = 2_000

interface Program {
  file: string
  arguments: string[]
  env: Record<string, string | undefined>
}

/**
 * Runs a program with a lower priority, because it must not delay requests. It is detached from the terminal, because the
 * service handles Ctrl-C, and so has a process group of its own.
 *
 * @param stop ends the program and the processes that it has started.
 * @throws {Error} with the end of what the program wrote to standard error, if it fails.
 */
export async function runInBackground({ file, arguments: words, env }: Program, stop: AbortSignal): Promise<void> {
  stop.throwIfAborted()
  const child = spawn(file, words, { env, stdio: ['ignore', 'ignore', 'pipe'], detached: true, windowsHide: true })
  const [ended, closed] = [once(child, 'exit'), once(child, 'close').catch(() => {})]
  // Without a free file descriptor no process starts: `ended` rejects, and `stderr` is missing.
  if (child.pid === undefined) return void (await ended)
  setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL)
  let problem = ''
  child.stderr.setEncoding('utf8').on('data', (text) => (problem = (problem + text).slice(-maxProblem)))
  let killing: NodeJS.Timeout | undefined
  const kill = () => {
    signalGroup(child, 'SIGTERM')
    killing = setTimeout(() => signalGroup(child, 'SIGKILL'), killDelay)
  }
  stop.addEventListener('abort', kill)
  const [code, signal] = await ended
  stop.removeEventListener('abort', kill)
  clearTimeout(killing)
  if (stop.aborted) signalGroup(child, 'SIGKILL')
  const timer = new AbortController()
  await Promise.race([closed, wait(maxReadTime, undefined, { signal: timer.signal })]).finally(() => timer.abort())
  child.stderr.destroy()
  stop.throwIfAborted()
  if (code !== 0) throw new Error(problem.trim() || `The process ended with ${signal ?? code}.`)
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  // Windows has no process groups.
  if (process.platform === 'win32' || child.pid === undefined) return void child.kill(signal)
  try {
    process.kill(-child.pid, signal)
  } catch {
    // All of its processes have ended.
  }
}
