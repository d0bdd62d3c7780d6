import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { type ProcessFixtures, runCommand, whenListening } from './process.ts'
import { connectRestClient } from './rest-client.ts'
import { temporaryFolder } from './temporary.ts'

/** Whether strace is installed and permitted. */
export function canTrace(): boolean {
  return spawnSync('strace', ['-f', '--seccomp-bpf', '-e', 'trace=fsync', 'true']).status === 0
}

/** Words before a command line that run it under strace with these options. */
export function strace(...options: string[]): string[] {
  return ['strace', '-f', '--seccomp-bpf', '-qq', '-o', '/dev/null', ...options]
}

/**
 * Words before a command line that delay each of these system calls by so many milliseconds, by default on all files. The
 * process stays the child. Without strace there are no words.
 */
export function slowed(calls: string, milliseconds: number, path?: string): string[] {
  if (!canTrace()) return []
  const options = ['-e', `trace=${calls}`, '-e', `inject=${calls}:delay_exit=${milliseconds * 1_000}`]
  return strace('-D', ...options, ...(path ? ['-P', path] : []))
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

export function tracedFixtures(program: string, { commandLine, createFirstKey }: ProcessFixtures) {
  return {
    /**
     * Runs the service on an existing database as a child of strace. Every system permits tracing a child.
     *
     * @param optionsFor the options of strace for a database at this path
     */
    async startTraced(optionsFor: (databasePath: string) => string[], env: Record<string, string> = {}) {
      const folder = temporaryFolder()
      const databasePath = join(folder, `data/${program}.db`)
      const trace = join(folder, 'trace')
      const key = await createFirstKey(folder)
      const command = ['strace', '-f', '--seccomp-bpf', '-o', trace, ...optionsFor(databasePath), ...commandLine]
      const server = await whenListening(runCommand(command, { folder, env, isGroup: true }))
      const { child, ended } = server
      return {
        server,
        key,
        rest: connectRestClient(server.url, key),
        databasePath,
        /** The process id of the service, not of strace. */
        processId: Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')),
        /** Ends the server, and resolves to the path of the recording of its system calls. */
        async stop(): Promise<string> {
          process.kill(-Number(child.pid), 'SIGTERM')
          await ended
          return trace
        },
      }
    },
  }
}
