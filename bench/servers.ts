import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, copyFileSync, fsyncSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { freePort } from '../test/support/free-port.ts'
import { cpuTime, residentMemory } from './proc.ts'

/** The service itself, and what it is compared with. */
export const servers = {
  petstore: 'Petstore',
  'node-http': 'bare node:http',
  fastify: 'Fastify, by hand',
  'fastify-postgres': 'Fastify + Drizzle, by hand',
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
  /** Milliseconds from its start to its first answer. */
  readyAfter: number
  /** The path of its database, or the URL. */
  database: string
  /** Microseconds of CPU time it has used, in all its threads. */
  cpuTime(): number
  /** Bytes of memory. */
  residentMemory(): number
  stop(): Promise<void>
}

interface StartOptions {
  /** Words to run the server under, such as those of strace. */
  under?: string[]
}

const root = join(import.meta.dirname, '..')

/** Starts a server on a free port, over a copy of an SQLite database. */
export async function startServer(
  name: ServerName,
  template: string,
  options: StartOptions = {},
): Promise<RunningServer> {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-bench-'))
  const database = join(folder, 'petstore.db')
  copyFileSync(template, database)
  settle(database)
  const server = await startOver(database, name, options)
  return {
    ...server,
    async stop() {
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Starts a server on a free port, over a database that is there: the path of one of SQLite, or the URL. */
export async function startOver(
  database: string,
  name: ServerName,
  { under = [] }: StartOptions = {},
): Promise<RunningServer> {
  const port = await freePort()
  const [command = '', ...words] = [...under, process.execPath, ...wordsOf(name, database, port)]
  const start = performance.now()
  const child = spawn(command, words, {
    env: environment(database, port),
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
    cpuTime: () => cpuTime(child.pid),
    residentMemory: () => residentMemory(child.pid),
    async stop() {
      child.kill('SIGINT')
      await Promise.race([once(child, 'exit'), wait(5_000)])
      child.kill('SIGKILL')
    },
  }
}

/** What is not on the disk yet would be written amid the measurement. */
function settle(path: string): void {
  const file = openSync(path, 'r+')
  fsyncSync(file)
  closeSync(file)
}

function wordsOf(name: ServerName, database: string, port: number): string[] {
  if (name !== 'petstore') return [join(import.meta.dirname, `peers/${name}.ts`), database, String(port)]
  // As `npm start` does: its options of V8, and the file.
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const [, , ...words]: string[] = scripts.start.split(' ')
  return [...words.slice(0, -1), join(root, words.at(-1) ?? '')]
}

/** The service logs requests, which no peer does. */
function environment(database: string, port: number) {
  return {
    PATH: process.env.PATH,
    NODE_ENV: 'production',
    PORT: String(port),
    DATABASE_URL: URL.canParse(database) ? database : `file:${database}`,
    LOG_LEVEL: 'warn',
  }
}

async function ready(child: ChildProcess, port: number): Promise<void> {
  const failed = once(child, 'exit').then(() => {
    throw new Error(`${child.spawnargs.join(' ')} ended before it listened.`)
  })
  await Promise.race([failed, answers(port)])
  failed.catch(() => {})
}

async function answers(port: number): Promise<void> {
  for (let attempt = 0; attempt < 1_000; attempt++) {
    const isUp = await fetch(`http://127.0.0.1:${port}/v1/pets`).then(
      (response) => response.status === 401,
      () => false,
    )
    if (isUp) return
    await wait(10)
  }
  throw new Error(`Nothing answers at port ${port} as a server with a check of API keys does.`)
}
