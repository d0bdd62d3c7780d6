import { once } from 'node:events'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { resources } from '../../db/resources.ts'
import { fileTimestamp } from '../../db/sqlite/backup/name.ts'
import { about } from '../../server/about.ts'
import { examine, type Service } from '../../server/ops/doctor/doctor.ts'
import type { Finding } from '../../server/ops/doctor/finding.ts'
import { type Machine, thisMachine } from '../../server/ops/doctor/machine.ts'
import { openDatabase } from '../support/database.ts'
import { freePort } from '../support/free-port.ts'
import { petstore, runCommand, runPetstore, startServer } from '../support/process.ts'
import { addingPets, change, leaveLog, makeDatabase, overwrite } from '../support/sample-database.ts'
import { canMount } from '../support/small-disk.ts'
import { temporaryFolder } from '../support/temporary.ts'

const hour = 3_600_000
const checks = [
  'node',
  'descriptors',
  'configuration',
  'database',
  'schema',
  'integrity',
  'writable',
  'permissions',
  'disk space',
  'file system',
  'write-ahead log',
  'backups',
  'clock',
  'port',
  'service',
]

test('the doctor finds nothing wrong with a running service, and changes nothing', async () => {
  const folder = temporaryFolder()
  const port = String(await freePort())
  const env = { PORT: port, BACKUP_EVERY: '1h' }
  await startServer({ folder, env })
  const backups = () => readdirSync(join(folder, 'data/backups')).toSorted()
  await expect
    .poll(backups)
    .toEqual([expect.stringMatching(/\.scheduled\.db$/), expect.stringMatching(/\.scheduled\.db\.sha256$/)])
  // The readiness check of the service writes to its log.
  const ignored = ['-wal']
  const before = contentsOf(join(folder, 'data'), ignored)
  const run = runPetstore({ folder, env, arguments: ['doctor', '--json'] })
  expect([await run.ended, run.stderr]).toEqual([0, ''])
  const findings: Finding[] = JSON.parse(run.stdout)
  expect(findings.map(({ check }) => check)).toEqual(checks)
  expect(badIn(findings)).toEqual([])
  expect(findings.slice(-2).map(({ message }) => message)).toEqual([
    `A running petstore serves at http://127.0.0.1:${port}.`,
    `The service is ready: http://127.0.0.1:${port}/readyz responds 200.`,
  ])
  expect(contentsOf(join(folder, 'data'), ignored)).toEqual(before)
})

describe('the doctor changes nothing in the folder of', () => {
  test.for<[string, (path: string) => void]>([
    ['a stopped service', () => {}],
    ['a service that was killed', (path) => leaveLog(path, addingPets(3, 'late'))],
  ])('%s', async ([, prepare]) => {
    const path = makeDatabase(join(temporaryFolder(), 'petstore.db'), 10)
    prepare(path)
    const before = contentsOf(dirname(path))
    expect(badIn(await diagnose(path))).toEqual([])
    expect(contentsOf(dirname(path))).toEqual(before)
  })
})

test('a check that cannot be made is a failure, and the others are made', async () => {
  const path = makeDatabase(join(temporaryFolder(), 'petstore.db'), 10)
  writeFileSync(join(dirname(path), 'backups'), 'in the way')
  const findings = await diagnose(path, { backupEvery: hour })
  expect(badIn(findings)).toEqual([
    { check: 'backups', status: 'failure', message: expect.stringContaining('not a directory') },
  ])
  expect(findings.map(({ check }) => check)).toContain('clock')
})

test('before the first start, the doctor only warns that there is no database', async () => {
  const folder = temporaryFolder()
  expect(badIn(await diagnose(join(folder, 'data/petstore.db')))).toEqual([
    { check: 'database', status: 'warning', message: expect.stringContaining('does not exist yet') },
  ])
  expect(readdirSync(folder)).toEqual([])
})

interface Fault {
  check: string
  status: Finding['status']
  /** A part of the message. */
  message: string
  damage?: (path: string) => void
  /** What the doctor gets to see instead of this machine and a healthy service. */
  see?: (path: string) => Overrides
}

interface Overrides extends Partial<Service>, Partial<Machine> {}

const faults: Record<string, Fault> = {
  'a newer schema': {
    check: 'schema',
    status: 'failure',
    message: 'it was migrated by a newer release (9999_future); start that release',
    damage: (path) => change(path, "INSERT INTO migrations VALUES ('9999_future', 'x', '2026-11-21T00:00:00.000Z')"),
  },
  'a corrupt page': {
    check: 'integrity',
    status: 'failure',
    message: 'it is corrupt; restore an intact backup',
    damage: (path) => overwrite(path, 20 * 4096, 4 * 4096),
  },
  'a large write-ahead log': {
    check: 'write-ahead log',
    status: 'warning',
    message: 'The write-ahead log has 200.0 MiB. It grows while a process keeps a read transaction open',
    damage(path) {
      leaveLog(path, addingPets(3, 'late'))
      truncateSync(`${path}-wal`, 200 * 2 ** 20)
    },
  },
  'an old backup': {
    check: 'backups',
    status: 'failure',
    message: 'The newest scheduled backup is 3 h old, and BACKUP_EVERY is 1 h.',
    damage: (path) => addBackup(path, Date.now() - 3 * hour),
    see: () => ({ backupEvery: hour }),
  },
  'no backup': {
    check: 'backups',
    status: 'warning',
    message: 'There is no scheduled backup yet',
    damage: (path) => addBackup(path, Date.now() - hour, { ending: '.scheduled.db.sha256' }),
    see: () => ({ backupEvery: hour }),
  },
  'a clock that is behind the release': {
    check: 'clock',
    status: 'failure',
    message: 'The clock shows 1970-01-01T00:00:00, which is before the release of this version. Set the clock',
    see: () => ({ now: new Date(0) }),
  },
  'a clock that is behind the database': {
    check: 'clock',
    status: 'failure',
    message: 'but the database has the time 2099-01-01T00:00:00. Set the clock',
    damage: (path) =>
      change(
        path,
        `INSERT INTO api_keys (name, start, hash, created_at)
        VALUES ('late', 'pet_', '${'0'.repeat(64)}', '2099-01-01T00:00:00.000Z')`,
      ),
  },
  'a clock that is behind a backup': {
    check: 'clock',
    status: 'failure',
    message: 'but the newest backup has the time 2099-',
    damage: (path) => addBackup(path, Date.UTC(2099, 0)),
  },
  'a network file system': {
    check: 'file system',
    status: 'failure',
    message: 'is on a network file system (nfs4), where SQLite may lose data. Move the database to a local disk',
    see(path) {
      const mountTable = join(temporaryFolder(), 'mounts')
      const mounts = ['rootfs / rootfs rw 0 0', `nas:/pets ${dirname(path)} nfs4 rw 0 0`, '/dev/sda1 / ext4 rw 0 0']
      writeFileSync(mountTable, `${mounts.join('\n')}\n`)
      return { mountTable }
    },
  },
  'a table that is missing': {
    check: 'schema',
    status: 'failure',
    message: 'no such table: idempotency_keys; restore a backup, or put the missing part back',
    damage: (path) => change(path, 'DROP TABLE idempotency_keys'),
  },
  'a database that every user may write': {
    check: 'permissions',
    status: 'failure',
    message: 'Every user may write files with data or keys. Run: chmod o-rwx ',
    damage: (path) => chmodSync(path, 0o666),
  },
  'a database that every user may read': {
    check: 'permissions',
    status: 'warning',
    message: 'Every user may read files with data or keys. Run: chmod o-rwx ',
    damage: (path) => chmodSync(path, 0o644),
  },
  'a log and an index that every user may read': {
    check: 'permissions',
    status: 'warning',
    message: 'petstore.db-shm',
    damage(path) {
      leaveLog(path, addingPets(3, 'late'))
      for (const suffix of ['-wal', '-shm']) {
        if (!existsSync(path + suffix)) writeFileSync(path + suffix, '')
        chmodSync(path + suffix, 0o604)
      }
    },
  },
  'a backup that every user may read': {
    check: 'permissions',
    status: 'warning',
    message: '.scheduled.db',
    damage: (path) => addBackup(path, Date.now(), { mode: 0o644 }),
  },
  'a key file that every user may read': {
    check: 'key file',
    status: 'warning',
    message: 'Every user may read files with data or keys. Run: chmod o-rwx ',
    see(path) {
      const apiKeyFile = join(dirname(path), 'key')
      writeFileSync(apiKeyFile, '', { mode: 0o644 })
      return { apiKeyFile }
    },
  },
  'a lock of another process': {
    check: 'writable',
    status: 'failure',
    message: 'cannot be used: another process holds its lock; stop that process',
    damage(path) {
      const other = openDatabase(path)
      other.exec('BEGIN IMMEDIATE')
    },
  },
  'a port that another program has taken': {
    check: 'port',
    status: 'failure',
    message: 'Port 1 is taken.',
    see: () => ({ port: { origin: 'http://127.0.0.1:1', problem: async () => 'Port 1 is taken.' } }),
  },
}

describe('the doctor reports, and nothing else:', () => {
  test.for(Object.entries(faults))('%s', async ([, { check, status, message, damage, see }]) => {
    const path = makeDatabase(join(temporaryFolder(), 'data/petstore.db'), 3_000)
    damage?.(path)
    expect(badIn(await diagnose(path, see?.(path)))).toEqual([
      { check, status, message: expect.stringContaining(message) },
    ])
  })
})

test('a mount point may contain a space, and a later mount hides an earlier one', async () => {
  const folder = join(temporaryFolder(), 'pet store')
  const path = makeDatabase(join(folder, 'petstore.db'), 1)
  const mountTable = join(temporaryFolder(), 'mounts')
  const line = (type: string) => `x ${folder.replace(' ', '\\040')} ${type} rw 0 0\n`
  writeFileSync(mountTable, line('ext4') + line('cifs'))
  expect(badIn(await diagnose(path, { mountTable }))).toMatchObject([{ check: 'file system' }])
  writeFileSync(mountTable, line('cifs') + line('ext4'))
  expect(badIn(await diagnose(path, { mountTable }))).toEqual([])
})

// Windows has no such limit, and no such folders.
if (process.platform === 'linux') {
  test('the command reports too few file descriptors and a taken port, and its exit code is 1', async () => {
    const port = await freePort()
    const other = createServer((socket) => socket.end('hello\n')).listen(port, '127.0.0.1')
    await once(other, 'listening')
    onTestFinished(() => void other.close())
    const { folder } = sample()
    const limited = ['sh', '-c', 'ulimit -n 100; exec "$@"', 'sh', ...petstore, 'doctor']
    const run = runCommand(limited, { folder, env: { PORT: String(port) } })
    expect([await run.ended, run.stderr]).toEqual([1, ''])
    const lines = run.stdout.trimEnd().split('\n')
    expect(lines).toHaveLength(checks.length)
    expect(lines.filter((line) => !line.startsWith('ok '))).toEqual([
      expect.stringMatching(/^failure +descriptors +A process may open 100 files\. Raise the limit to 1024 or more/),
      expect.stringMatching(
        /^failure +port +Port \d+ on 127\.0\.0\.1 is taken by another program, or by an outgoing connection of one: stop it/,
      ),
    ])
  })
}

if (canMount()) {
  test('the command reports a folder that is read-only', async () => {
    const { folder } = sample()
    const readOnly = `mount --bind ${folder} ${folder}; mount -o remount,bind,ro ${folder}; cd ${folder}; exec "$@"`
    expect(await reportInNamespace(readOnly)).toEqual([
      expect.stringMatching(/^failure +database +.*unable to open database file/),
      expect.stringMatching(/^failure +permissions +.* is on a file system that is mounted read-only\. Mount it for/),
    ])
  })

  test('the command reports a full disk, and none with enough free space', async () => {
    const { folder, path } = sample()
    const disk = (megabytes: number) => `
      mount -t tmpfs -o size=100m none ${folder}/disk
      mkdir ${folder}/disk/data
      cp ${path} ${folder}/disk/data/
      dd if=/dev/zero of=${folder}/disk/filling bs=1M count=${megabytes} status=none
      cd ${folder}/disk
      exec "$@"`
    mkdir(join(folder, 'disk'))
    const [full, free] = await Promise.all([reportInNamespace(disk(50)), reportInNamespace(disk(1))])
    expect(full).toEqual([
      expect.stringMatching(/^failure +disk space +[45]\d\.\d MiB are free in .*\. Free some space: writes fail/),
    ])
    expect(free).toEqual([])
  })
}

function sample(): { folder: string; path: string } {
  const folder = temporaryFolder()
  return { folder, path: makeDatabase(join(folder, 'data/petstore.db'), 10) }
}

/** Runs the doctor as root of a mount namespace of its own, and returns the lines that are not ok. */
async function reportInNamespace(script: string): Promise<string[]> {
  const command = ['unshare', '-rm', 'sh', '-ec', script, 'sh', ...petstore, 'doctor']
  const run = runCommand(command, { env: { PORT: '0' } })
  await run.ended
  expect(run.stderr).toBe('')
  return run.stdout
    .trimEnd()
    .split('\n')
    .filter((line) => !line.startsWith('ok '))
}

function mkdir(path: string): void {
  mkdirSync(path, { recursive: true })
}

/** Examines a database as the command does, on a machine and with a port that are in order. */
function diagnose(path: string, { now, mountTable, limits, ...service }: Overrides = {}): Promise<Finding[]> {
  const healthy = thisMachine()
  return examine(
    [],
    {
      resources,
      ...about,
      database: { kind: 'sqlite', path },
      databaseConnections: 10,
      backupEvery: undefined,
      apiKeyFile: undefined,
      port: { origin: 'http://127.0.0.1:1', problem: async () => undefined },
      ...service,
    },
    { now: now ?? healthy.now, mountTable: mountTable ?? healthy.mountTable, limits: limits ?? healthy.limits },
  )
}

function badIn(findings: Finding[]): Finding[] {
  return findings.filter(({ status }) => status !== 'ok')
}

function addBackup(path: string, time: number, { ending = '.scheduled.db', mode = 0o600 } = {}): void {
  const backups = join(dirname(path), 'backups')
  mkdir(backups)
  const backup = join(backups, `petstore.db-${fileTimestamp(time)}${ending}`)
  copyFileSync(path, backup)
  chmodSync(backup, mode)
}

/** The files of a folder with their bytes. The index of the log changes with every reader. */
function contentsOf(folder: string, ignored: string[] = []): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return Object.fromEntries(
    files.map(({ parentPath, name }) => {
      const bytes = ['-shm', ...ignored].some((suffix) => name.endsWith(suffix))
        ? Buffer.alloc(0)
        : readFileSync(join(parentPath, name))
      return [join(parentPath, name), bytes.toString('base64')]
    }),
  )
}
