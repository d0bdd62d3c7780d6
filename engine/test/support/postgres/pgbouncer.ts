import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { freePort } from '../free-port.ts'
import { query } from './databases.ts'

/** Whether Debian's package "pgbouncer" is installed. CI installs it. */
export const hasPgBouncer = spawnSync('pgbouncer', ['--version']).status === 0

export interface PgBouncer {
  /** The URL of the same database through PgBouncer. */
  url(target: string): string
  /** Runs a command of its console, such as `SHOW POOLS`. */
  command(text: string): Promise<Record<string, unknown>[]>
  /** Changes settings of the running process. */
  configure(settings: Record<string, string>): Promise<void>
  /** Kills it (SIGKILL), which breaks all connections, and starts it again. */
  restart(): Promise<void>
  stop(): Promise<void>
}

/** Runs PgBouncer in front of all databases of a PostgreSQL server. Settings that are not given have their defaults. */
export async function startPgBouncer(server: string, settings: Record<string, string> = {}): Promise<PgBouncer> {
  const folder = mkdtempSync(join(tmpdir(), 'tests-pgbouncer-'))
  const port = await freePort()
  const { hostname, port: serverPort, username, password } = new URL(server)
  const file = join(folder, 'pgbouncer.ini')
  writeFileSync(join(folder, 'users'), `"${username}" "${password}"\n`)
  const own = {
    listen_addr: '127.0.0.1',
    listen_port: String(port),
    unix_socket_dir: '',
    auth_type: 'scram-sha-256',
    auth_file: join(folder, 'users'),
    admin_users: username,
  }
  write(settings)
  // PgBouncer does not run as root.
  chmodSync(folder, 0o755)
  const words = process.getuid?.() === 0 ? ['-u', 'nobody', file] : [file]
  let child = await start()

  function write(further: Record<string, string>): void {
    const lines = Object.entries({ ...own, ...further }).map(([name, value]) => `${name} = ${value}`)
    const databases = ['[databases]', `* = host=${hostname} port=${serverPort}`]
    writeFileSync(file, [...databases, '[pgbouncer]', ...lines, ''].join('\n'))
  }
  async function start(): Promise<ChildProcess> {
    const child = spawn('pgbouncer', words, { stdio: ['ignore', 'ignore', 'pipe'] })
    let output = ''
    child.stderr.on('data', (chunk) => (output += chunk))
    while (!output.includes('process up')) {
      if (child.exitCode !== null) throw new Error(`PgBouncer did not start: ${output}`)
      await wait(10)
    }
    return child
  }
  async function end(): Promise<void> {
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }
  const command = (text: string) => query(url(server, '/pgbouncer'), text)
  function url(target: string, pathname = new URL(target).pathname): string {
    return Object.assign(new URL(target), { port: String(port), pathname }).href
  }
  return {
    url: (target) => url(target),
    command,
    async configure(further) {
      write({ ...settings, ...further })
      await command('RELOAD')
    },
    async restart() {
      await end()
      child = await start()
    },
    async stop() {
      await end()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
