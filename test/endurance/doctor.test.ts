import { spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { definition } from '../../db/store.ts'
import { type DoctorTarget, examine, type Finding } from '../../engine/service/commands/doctor.ts'
import { fileTimestamp } from '../../engine/store/sqlite/file/files.ts'
import { runCommand } from '../../engine/test/support/process.ts'
import { change, contentsOf, leaveLog, overwrite } from '../../engine/test/support/sample-database.ts'
import { canMount, inNamespace } from '../../engine/test/support/small-disk.ts'
import { temporaryFolder } from '../../engine/test/support/temporary.ts'
import { addingRows, commandLine, makeDatabase, runProgram, startServer } from '../support/petstore.ts'

const hour = 3_600_000
const checks = ['node', 'configuration', 'database', 'schema', 'integrity', 'permissions', 'disk space', 'backups']

test('the doctor finds nothing wrong with a running service, and changes nothing', async () => {
  const folder = temporaryFolder()
  const env = { BACKUP_EVERY: '1h' }
  await startServer({ folder, env })
  const backups = () => readdirSync(join(folder, 'data/backups')).toSorted()
  await expect
    .poll(backups)
    .toEqual([expect.stringMatching(/\.scheduled\.db$/), expect.stringMatching(/\.scheduled\.db\.sha256$/)])
  // The readiness check of the service writes to its log.
  const ignored = ['-wal']
  const before = contentsOf(join(folder, 'data'), ignored)
  const run = runProgram({ folder, env, arguments: ['doctor', '--json'] })
  expect([await run.ended, run.stderr]).toEqual([0, ''])
  const findings: Finding[] = JSON.parse(run.stdout)
  expect(findings.map(({ check }) => check)).toEqual(checks)
  expect(badIn(findings)).toEqual([])
  expect(contentsOf(join(folder, 'data'), ignored)).toEqual(before)
})

test('without BACKUP_EVERY, the doctor warns of no backup, and of an old one', async () => {
  const { path } = sample()
  const verdict = async () => (await diagnose(path)).find(({ check }) => check === 'backups')
  expect(await verdict()).toMatchObject({ status: 'warning', message: expect.stringContaining('made no backup') })
  addBackup(path, Date.now() - 49 * hour, { ending: '.db' })
  expect(await verdict()).toMatchObject({ status: 'warning', message: expect.stringContaining('backup is 2 d old') })
  addBackup(path, Date.now() - 47 * hour, { ending: '.db' })
  expect(await verdict()).toMatchObject({ status: 'ok' })
})

test.for([
  ['a stopped service', () => {}],
  ['a service that was killed', (path: string) => leaveLog(path, addingRows(3, 'late'))],
] as const)('the doctor changes nothing in the folder of %s', async ([, prepare]) => {
  const { path } = sample()
  prepare(path)
  const before = contentsOf(dirname(path))
  expect(badIn(await diagnose(path))).toEqual([])
  expect(contentsOf(dirname(path))).toEqual(before)
})

test('a check that cannot be made is a failure, and the others are made', async () => {
  const { path } = sample()
  writeFileSync(join(dirname(path), 'backups'), 'in the way')
  const findings = await diagnose(path, { backupEvery: hour })
  expect(badIn(findings)).toEqual([
    { check: 'backups', status: 'failure', message: expect.stringContaining('not a directory') },
  ])
  expect(findings.map(({ check }) => check)).toContain('disk space')
})

test('before the first start, the doctor only warns that there is no database', async () => {
  const folder = temporaryFolder()
  expect(badIn(await diagnose(join(folder, 'data/petstore.db')))).toEqual([
    { check: 'database', status: 'warning', message: expect.stringContaining('There is no database at') },
  ])
  expect(readdirSync(folder)).toEqual([])
})

test('the doctor judges the folder in which the first start creates the file of a link', async () => {
  const [folder, target] = [temporaryFolder(), temporaryFolder()]
  symlinkSync(join(target, 'petstore.db'), join(folder, 'petstore.db'))
  const findings = await diagnose(join(folder, 'petstore.db'))
  const messages = findings.map(({ check, message }) => [check, message])
  expect(messages).toContainEqual(['permissions', expect.stringMatching(`^This user may write to ${target}\\.`)])
  expect(messages).toContainEqual(['disk space', expect.stringContaining(` in ${target}.`)])
})

test('a key that expires later, and a backup with a time in the future, are nothing to report', async () => {
  const { path } = sample()
  change(
    path,
    `INSERT INTO api_keys (name, start, hash, created_at, expires_at)
    VALUES ('shop', 'pet_', '${'0'.repeat(64)}', '2026-11-21T00:00:00.000Z', '2099-01-01T00:00:00.000Z')`,
  )
  addBackup(path, Date.UTC(2099, 0))
  addBackup(path, Date.now() - hour / 2)
  const findings = await diagnose(path, { backupEvery: hour })
  expect(badIn(findings)).toEqual([])
  expect(findings.at(-1)?.message).toBe('The newest scheduled backup is 30 m old, and BACKUP_EVERY is 1 h.')
})

/** What is wrong, as a part of the message, and what has made it so. */
const faults: [verdict: string, message: string, damage: (path: string) => void, backupEvery?: number][] = [
  [
    // Its permissions are its own.
    'database failure',
    'it is not an SQLite database; choose another file',
    (path) => {
      writeFileSync(path, 'text')
      chmodSync(path, 0o644)
    },
  ],
  [
    'schema failure',
    'it was migrated by a newer release (9999_future); start that release',
    (path) => change(path, "INSERT INTO migrations VALUES ('9999_future', 'x', '2026-11-21T00:00:00.000Z')"),
  ],
  [
    'schema failure',
    'no such table: idempotency_keys; restore a backup, or put the missing part back, with a migration if it is new',
    (path) => change(path, 'DROP TABLE idempotency_keys'),
  ],
  ['integrity failure', 'it is corrupt; restore an intact backup', (path) => overwrite(path, 20 * 4096, 4 * 4096)],
  [
    'backups failure',
    'The newest scheduled backup is 3 h old, and BACKUP_EVERY is 1 h.',
    (path) => addBackup(path, Date.now() - 3 * hour),
    hour,
  ],
  [
    'backups warning',
    'There is no scheduled backup yet',
    (path) => addBackup(path, Date.now() - hour, { ending: '.scheduled.db.sha256' }),
    hour,
  ],
  ['permissions failure', 'let every user write them. Run: chmod o-rwx ', (path) => chmodSync(path, 0o666)],
  ['permissions warning', 'let every user read them. Run: chmod o-rwx ', (path) => chmodSync(path, 0o644)],
  ['permissions warning', '.scheduled.db', (path) => addBackup(path, Date.now(), { mode: 0o644 })],
  [
    'permissions warning',
    'petstore.db-shm',
    (path) => {
      leaveLog(path, addingRows(3, 'late'))
      for (const suffix of ['-wal', '-shm']) chmodSync(path + suffix, 0o604)
    },
  ],
]

test.for(faults)(
  'the doctor reports this %s, and nothing else: %s',
  async ([verdict, message, damage, backupEvery]) => {
    const path = makeDatabase(join(temporaryFolder(), 'data/petstore.db'), 3_000)
    damage(path)
    const found = badIn(await diagnose(path, { backupEvery }))
    expect(found.map(({ check, status }) => `${check} ${status}`)).toEqual([verdict])
    expect(found[0]?.message).toContain(message)
  },
)

// Only root may run a command as another user.
const asNobody = ['setpriv', '--reuid=65534', '--clear-groups']
if (spawnSync('setpriv', [...asNobody.slice(1), ...commandLine, '--version']).status === 0) {
  test('the doctor says in sentences what another user may not read, and its exit code is 1', async () => {
    const { folder } = sample()
    chmodSync(folder, 0o755)
    const run = runCommand([...asNobody, ...commandLine, 'doctor', '--json'], { folder, env: { BACKUP_EVERY: '1h' } })
    expect([await run.ended, run.stderr]).toEqual([1, ''])
    const bad = badIn(JSON.parse(run.stdout))
    expect(bad.map(({ check }) => check)).toContain('database')
    for (const { message } of bad) {
      expect(message).not.toMatch(/\bE[A-Z]{4,}\b/)
      expect(message).toMatch(/^[A-Z/].*\.$/)
    }
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

  test('the command reports a full disk, and none with enough free space or without a size', async () => {
    const { folder, path } = sample()
    const disk = (megabytes: number, size = '100m') => `
      mount -t tmpfs -o size=${size} none ${folder}/disk
      mkdir ${folder}/disk/data
      cp ${path} ${folder}/disk/data/
      dd if=/dev/zero of=${folder}/disk/filling bs=1M count=${megabytes} status=none
      cd ${folder}/disk
      exec "$@"`
    mkdirSync(join(folder, 'disk'))
    const [full, ...free] = await Promise.all([disk(50), disk(1), disk(1, '0')].map(reportInNamespace))
    expect(full).toEqual([
      expect.stringMatching(/^failure +disk space +[45]\d\.\d MiB are free in .*\. Free some space: writes fail/),
    ])
    expect(free).toEqual([[], []])
  })
}

function sample(): { folder: string; path: string } {
  const folder = temporaryFolder()
  return { folder, path: makeDatabase(join(folder, 'data/petstore.db'), 10) }
}

/** Runs the doctor as root of a mount namespace of its own, and returns the lines that are not ok. */
async function reportInNamespace(script: string): Promise<string[]> {
  const run = runCommand(inNamespace(script, [...commandLine, 'doctor']))
  await run.ended
  expect(run.stderr).toBe('')
  return run.stdout
    .trimEnd()
    .split('\n')
    .filter((line) => !/^ok |The command backup has made no backup/.test(line))
}

/** Examines a database as the command does. */
function diagnose(path: string, { backupEvery }: Pick<DoctorTarget, 'backupEvery'> = { backupEvery: undefined }) {
  return examine([], { command: 'petstore', definition, database: { kind: 'sqlite', path }, backupEvery })
}

/** Without the warning of no backup at all, which a test of its own covers. */
function badIn(findings: Finding[]): Finding[] {
  return findings.filter(
    ({ status, message }) => status !== 'ok' && !message.startsWith('The command backup has made no backup'),
  )
}

function addBackup(path: string, time: number, { ending = '.scheduled.db', mode = 0o600 } = {}): void {
  const backups = join(dirname(path), 'backups')
  mkdirSync(backups, { recursive: true })
  const backup = join(backups, `petstore.db-${fileTimestamp(time)}${ending}`)
  copyFileSync(path, backup)
  chmodSync(backup, mode)
}
