import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, copyFileSync, fsyncSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { freePort } from '../test/support/free-port.ts'
import { type CpuTimes, cpuTime, cpuTimes, residentMemory } from './proc.ts'

/** The service and the servers that it is compared with, by their titles in the table. */
export const servers = {
  petstore: 'Petstore',
  'petstore-again': 'Petstore, control',
  'petstore-logging': 'Petstore, requests logged',
  'petstore-sampling': 'Petstore, 1 % of requests logged',
  'node-http': 'bare node:http',
  fastify: 'hand-written Fastify',
  'fastify-postgres': 'hand-written Fastify + Drizzle',
  'fastify-zod': 'Fastify + zod',
  orpc: 'oRPC',
  hono: 'Hono',
  'trpc-to-openapi': 'trpc-to-openapi',
  nest: 'NestJS on Fastify',
  trpc: "tRPC's Fastify adapter",
  'group-commit': 'ceiling: bare group commit',
} as const

export type ServerName = keyof typeof servers

export interface RunningServer {
  port: number
  /** Milliseconds from its start to its first response. */
  readyAfter: number
  /** The path or the URL of its database. */
  database: string
  cpuTimes(): CpuTimes
  /** Microseconds of CPU time in all its threads. */
  cpuTime(): number
  /** Bytes of memory. */
  residentMemory(): number
  stop(): Promise<void>
}

interface StartOptions {
  /** A command that runs the server, such as strace with its arguments. */
  under?: string[]
}

/** Runs a server with 5 ms added to each fsync. */
export const slowDisk = [
  ...['strace', '-D', '-f', '-qq', '--seccomp-bpf', '-o', '/dev/null'],
  ...['-e', 'trace=fsync,fdatasync', '-e', 'inject=fsync,fdatasync:delay_exit=5000'],
]

const root = join(import.meta.dirname, '..')

export function requireTool(name: 'strace' | 'wrk'): void {
  if (spawnSync(name, ['-v']).error) throw new Error(`The benchmark needs ${name}: install it first.`)
}

/** Starts a server on a free port with a copy of a SQLite database. */
export async function startServer(
  name: ServerName,
  template: string,
  options: StartOptions = {},
): Promise<RunningServer> {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-bench-'))
  const database = join(folder, 'petstore.db')
  copyFileSync(template, database)
  syncFile(database)
  const server = await startOnDatabase(database, name, options)
  return {
    ...server,
    async stop() {
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Starts a server on a free port with an existing database: the path of a SQLite file or the URL of a PostgreSQL database. */
export async function startOnDatabase(
  database: string,
  name: ServerName,
  { under = [] }: StartOptions = {},
): Promise<RunningServer> {
  const port = await freePort()
  const [command = '', ...words] = [...under, process.execPath, ...wordsOf(name, database, port)]
  const start = performance.now()
  const child = spawn(command, words, {
    env: { ...environment(database, port), ...logging[name] },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  try {
    await ready(child, port)
  } catch (error) {
    child.kill('SIGKILL')
    throw error
  }
  return {
    port,
    readyAfter: performance.now() - start,
    database,
    cpuTimes: () => cpuTimes(child.pid),
    cpuTime: () => cpuTime(child.pid),
    residentMemory: () => residentMemory(child.pid),
    async stop() {
      child.kill('SIGINT')
      await Promise.race([once(child, 'exit'), wait(5_000)])
      child.kill('SIGKILL')
    },
  }
}

/** Without this, the kernel would write the copy to disk during the measurement. */
function syncFile(path: string): void {
  const file = openSync(path, 'r+')
  fsyncSync(file)
  closeSync(file)
}

function wordsOf(name: ServerName, database: string, port: number): string[] {
  if (!name.startsWith('petstore')) return [join(import.meta.dirname, `peers/${name}.ts`), database, String(port)]
  // The V8 options and the file of `npm start`.
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const [, , ...words]: string[] = scripts.start.split(' ')
  return [...words.slice(0, -1), join(root, words.at(-1) ?? '')]
}

/** The environment of a server. LOG_LEVEL keeps the service from logging requests, which the peers do not do either. */
function environment(database: string, port: number) {
  return {
    PATH: process.env.PATH,
    NODE_ENV: 'production',
    PORT: String(port),
    DATABASE_URL: URL.canParse(database) ? database : `file:${database}`,
    LOG_LEVEL: 'warn',
  }
}

const logging: Partial<Record<ServerName, Record<string, string>>> = {
  'petstore-logging': { LOG_LEVEL: 'info' },
  'petstore-sampling': { LOG_LEVEL: 'info', LOG_SAMPLE: '0.01' },
}

async function ready(child: ChildProcess, port: number): Promise<void> {
  const failed = once(child, 'exit').then(() => {
    throw new Error(`${child.spawnargs.join(' ')} ended before it was ready.`)
  })
  await Promise.race([failed, respondsAt(port)])
  failed.catch(() => {})
}

async function respondsAt(port: number): Promise<void> {
  for (let attempt = 0; attempt < 1_000; attempt++) {
    const isUp = await fetch(`http://127.0.0.1:${port}/v1/pets`).then(
      (response) => response.status === 401,
      () => false,
    )
    if (isUp) return
    await wait(10)
  }
  throw new Error(`No server at port ${port} responded with 401 to a request without an API key within 10 s.`)
}
