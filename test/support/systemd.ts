import { execFile, spawn, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { vi } from 'vitest'
import { type AtEnd, temporaryFolder } from '../../engine/test/support/temporary.ts'
import { buildPackage } from './built-package.ts'
import { root } from './documents.ts'

const program = '/lib/systemd/systemd'

/** The first folder for control groups of version 2. */
const controlGroups = /^cgroup2 (\S+) /m.exec(
  existsSync('/proc/mounts') ? readFileSync('/proc/mounts', 'utf8') : '',
)?.[1]

/** Whether this process may run systemd in a namespace. This needs root, and control groups of version 2. */
export function canRunSystemd(): boolean {
  const mount = ['unshare', '--mount', '--pid', '--cgroup', '--fork', 'mount', '-t', 'cgroup2', 'none', '/mnt']
  const [command = '', ...words] = mount
  return existsSync(program) && controlGroups !== undefined && spawnSync(command, words).status === 0
}

export interface Systemd {
  /** Folder of the database, on the host. */
  state: string
  /** Folder of the configuration, on the host. */
  etc: string
  /** Runs a command beside systemd. Never rejects. */
  run(...command: string[]): Promise<Result>
  /** A property of a unit. */
  show(unit: string, property: string): Promise<string>
  /** The id of the first process of a unit, as the host knows it. */
  hostProcess(unit: string): number
  /** The messages of a unit in the journal. */
  journal(unit: string, ...options: string[]): Promise<string[]>
}

interface Result {
  code: number
  stdout: string
  stderr: string
}

/** Units that others require. They do nothing here, because the machine is running already. */
const targets = ['basic', 'multi-user', 'network-online', 'shutdown', 'sockets', 'sysinit', 'timers']

/** The migration of the release in /opt/petstore-next. /opt/petstore-2.0.1 has the schema of /opt/petstore-2.0.0. */
const nextMigration = 'ALTER TABLE pets ADD COLUMN note text;'

/**
 * Runs systemd and its journal as on a machine on which the service was installed as docs/guides/deployment.md describes. It
 * has process ids and control groups of its own, and /etc, /opt, /run and /var/lib. The network is that of the host.
 */
export async function startSystemd(atEnd: AtEnd): Promise<Systemd> {
  const folder = temporaryFolder(atEnd)
  const [etc, lib, units, group] = [
    join(folder, 'etc'),
    join(folder, 'lib'),
    join(folder, 'units'),
    join(String(controlGroups), `petstore-test-${process.pid}-${Date.now()}`),
  ]
  const [release, next] = [join(folder, 'release'), join(folder, 'next')]
  const modules = join(release, 'node_modules')
  await buildPackage(join(modules, 'petstore-service'))
  mkdirSync(join(modules, 'petstore-service/node_modules'))
  mkdirSync(join(modules, '.bin'))
  symlinkSync('../petstore-service/bin/petstore', join(modules, '.bin/petstore'))
  writeFileSync(join(modules, '.bin/node'), '')
  cpSync(release, next, { recursive: true, verbatimSymlinks: true })
  for (const database of ['sqlite', 'postgres'])
    writeFileSync(join(next, `node_modules/petstore-service/db/migrations/${database}/9999_next.sql`), nextMigration)
  for (const each of [lib, units, group]) mkdirSync(each)
  for (const name of targets) writeFileSync(join(units, `${name}.target`), '[Unit]\nDefaultDependencies=no\n')
  atEnd(() => removeGroups(group))

  const script = `
    echo $$ > ${group}/cgroup.procs
    exec unshare --mount --pid --cgroup --uts --ipc --fork --kill-child sh -ec '
      mount --make-rprivate /
      cp -a /etc ${etc}
      echo petstore:x:2000:2000::/var/lib/petstore:/usr/sbin/nologin >> ${etc}/passwd
      echo petstore:x:2000: >> ${etc}/group
      rm -rf ${etc}/systemd/system
      mkdir ${etc}/systemd/system
      cp -r ${root}/deploy/petstore* ${etc}/systemd/system
      cp ${etc}/systemd/system/petstore.service ${etc}/systemd/system/petstore@.service
      cp /lib/systemd/system/systemd-journald.* /lib/systemd/system/systemd-journald-dev-log.socket ${units}
      mount -t tmpfs tmpfs /opt
      install_release() {
        mkdir /opt/$1
        mount --bind $2 /opt/$1
        mount --bind ${process.execPath} /opt/$1/node_modules/.bin/node
        mount --bind ${root}/node_modules /opt/$1/node_modules/petstore-service/node_modules
      }
      install_release petstore-2.0.0 ${release}
      install_release petstore-2.0.1 ${release}
      install_release petstore-next ${next}
      ln -s petstore-2.0.0 /opt/petstore
      mount --bind ${lib} /var/lib
      mount --bind ${etc} /etc
      mount --bind ${units} /lib/systemd/system
      mount -t tmpfs tmpfs /run
      umount --lazy --recursive /sys/fs/cgroup
      mount -t cgroup2 cgroup2 /sys/fs/cgroup
      mount -t proc proc /proc
      exec env -i container=test PATH=/usr/sbin:/usr/bin:/sbin:/bin ${program} --unit=multi-user.target
    '`
  const child = spawn('sh', ['-ec', script], { stdio: ['ignore', 'ignore', 'pipe'] })
  let problem = ''
  child.stderr.on('data', (chunk) => (problem += chunk))
  const ended = new Promise((resolve) => child.once('close', resolve))
  atEnd(async () => {
    child.kill('SIGKILL')
    await ended
  })

  async function run(...command: string[]): Promise<Result> {
    const pid = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim()
    const words = ['--target', pid, '--mount', '--pid', '--cgroup', ...command]
    // The error of a command that fails has its code and its output.
    return promisify(execFile)('nsenter', words).then(
      (output) => ({ code: 0, ...output }),
      (error) => error,
    )
  }
  const boot = async () => {
    const { stdout } = await run('systemctl', 'is-system-running')
    if (!/^(running|degraded)/.test(stdout)) throw new Error(`systemd is not running: ${stdout}`)
  }
  const fail = async () => {
    await ended
    throw new Error(`systemd has ended: ${problem}`)
  }
  await Promise.race([vi.waitFor(boot, { timeout: 60_000 }), fail()])
  await run('systemctl', 'start', 'systemd-journald')

  return {
    state: join(lib, 'petstore'),
    etc,
    run,
    async show(unit, property) {
      return (await run('systemctl', 'show', unit, `--property=${property}`, '--value')).stdout.trim()
    },
    hostProcess(unit) {
      const slice = unit.includes('@') ? `system-${unit.replace(/@.*/, '')}.slice/` : ''
      const path = join(group, `system.slice/${slice}${unit}.service/cgroup.procs`)
      return Number.parseInt(readFileSync(path, 'utf8'), 10)
    },
    async journal(unit, ...options) {
      const { stdout } = await run('journalctl', '--output=cat', '--no-pager', `--unit=${unit}`, ...options)
      return stdout.split('\n').filter(Boolean)
    },
  }
}

/** systemd has one group for each unit. Those of processes that are about to end cannot be removed yet. */
async function removeGroups(group: string): Promise<void> {
  const remove = () => {
    const { status, stderr } = spawnSync('find', [group, '-depth', '-type', 'd', '-exec', 'rmdir', '{}', '+'])
    if (status !== 0) throw new Error(String(stderr))
  }
  await vi.waitFor(remove, { timeout: 60_000 })
}
