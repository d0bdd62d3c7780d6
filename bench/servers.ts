import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { freePort } from '../engine/test/support/free-port.ts'
import { copyDatabase, type Template } from './database.ts'
import type { Target } from './wrk.ts'

/** A column of a table. */
export interface Contestant {
  title: string
  template: Template
  /** A file in `peers/` and its arguments. Without a peer, it is the service. With `untuned`, it runs as its manual shows. */
  peer?: string[]
}

export interface RunningServer extends Target {
  /** Microseconds of CPU time of all its threads, in the process and in the kernel. */
  cpuTimes(): { user: number; system: number }
  stop(): Promise<void>
}

const root = join(import.meta.dirname, '..')

/** A command that runs a server with 5 ms added to each fsync. */
export const slowDisk = [
  ...['strace', '-D', '-f', '-qq', '--seccomp-bpf', '-o', '/dev/null'],
  ...['-e', 'trace=fsync,fdatasync', '-e', 'inject=fsync,fdatasync:delay_exit=5000'],
]

/**
 * Starts a server on a free port with a copy of the database, and unless it is `untuned`, with the V8 options of `npm start`.
 *
 * @param under a command that runs the server
 */
export async function startServer({ peer, template }: Contestant, under: string[]): Promise<RunningServer> {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-bench-'))
  const [path, port] = [join(folder, 'petstore.db'), await freePort()]
  copyDatabase(template.path, path)
  const [file = '', ...words] = peer ? [`bench/peers/${peer[0]}.ts`, path, `${port}`, ...peer.slice(1)] : [launcher]
  const node = [process.execPath, ...(peer?.includes('untuned') ? [] : v8Options)]
  const [command = '', ...rest] = [...under, ...node, join(root, file), ...words]
  const child = spawn(command, rest, {
    // The peers log nothing, and so does the service with this level.
    env: {
      ...{ PATH: process.env.PATH, NODE_ENV: 'production', LOG_LEVEL: 'warn' },
      ...{ PORT: `${port}`, DATABASE_URL: `file:${path}` },
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const exited = once(child, 'exit')
  const stop = async () => {
    child.kill('SIGINT')
    await Promise.race([exited, wait(5_000)])
    child.kill('SIGKILL')
    await exited
    rmSync(folder, { recursive: true })
  }
  const failed = exited.then(() => Promise.reject(new Error(`${child.spawnargs.join(' ')} ended.`)))
  try {
    await Promise.race([failed, respondsAt(port)])
  } catch (error) {
    await stop()
    throw error
  }
  failed.catch(() => {})
  return { port, key: template.key, pets: template.pets, cpuTimes: () => cpuTimes(child.pid), stop }
}

/** `exec node <V8 options> <file>` */
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const startWords: string[] = scripts.start.split(' ').slice(2)
const [v8Options, launcher = ''] = [startWords.slice(0, -1), startWords.at(-1)]

async function respondsAt(port: number): Promise<void> {
  for (let attempt = 0; attempt < 1_000; attempt++) {
    const response = await fetch(`http://127.0.0.1:${port}/v1/pets`).catch(() => undefined)
    if (response?.status === 401) return
    await wait(10)
  }
  throw new Error(`No server at port ${port} responded with 401 to a request without an API key.`)
}

/** See proc_pid_stat(5). The times are in hundredths of a second. */
function cpuTimes(pid: number | undefined): { user: number; system: number } {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  return { user: Number(fields[11]) * 10_000, system: Number(fields[12]) * 10_000 }
}

/** Checks that the servers respond with the same pets, so that none has an easier task. The databases must have equal contents. */
export async function expectSameResponses(targets: Target[]): Promise<void> {
  const responses = await Promise.all(targets.map(responsesOf))
  const different = responses.find((each) => each !== responses[0])
  if (different) throw new Error(`The servers respond differently: ${different} and ${responses[0]}`)
}

async function responsesOf({ port, key, pets }: Target): Promise<string> {
  const body = '{"name":"Rex","categoryId":7,"status":"sold"}'
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const request = async (path: string, options = {}) => {
    const response = await fetch(`http://127.0.0.1:${port}/v1/pets${path}`, { headers, ...options })
    return `${response.ok} ${await response.text()}`
  }
  const read = await Promise.all(
    ['?limit=20', `?limit=20&cursor=${pets >> 1}`, `/${pets}`].map((path) => request(path)),
  )
  return [...read, await request('', { method: 'POST', body }), await request(`/${pets + 1}`)].join()
}
