import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { mintApiKey } from '../../server/auth/api-key.ts'
import { logTo } from '../../server/log.ts'
import { scheduleBackups } from '../../server/ops/backup/schedule.ts'
import { codeBlocksOf, document } from '../support/documents.ts'
import { type LogLine, logLinesIn } from '../support/log-lines.ts'
import { readMetric } from '../support/metrics.ts'
import { petstore, runPetstore, startServer, waitForOutput } from '../support/process.ts'
import { makeDatabase, namesIn } from '../support/sample-database.ts'
import { temporaryFolder } from '../support/temporary.ts'

const program = String(petstore.at(-1))
const key = mintApiKey()

test('the command gets the path of each backup as its only argument, and no variable of the service', async () => {
  const folder = join(temporaryFolder(), `it's $(touch x) "&";`)
  mkdirSync(folder)
  makeDatabase(join(folder, 'data/petstore.db'), 3)
  const command = script(folder, `printf '%s\\n' "$#" "$1" > "$0.partial"; env > "$0.env"; mv "$0.partial" "$0.called"`)
  const env = { BACKUP_EVERY: '1h', BACKUP_COMMAND: command, PETSTORE_API_KEY: key, VAULT: 'remote' }
  const server = await startServer({ folder, env: { ...env, ADMIN_PORT: '0' } })
  await expect.poll(() => existsSync(`${command}.called`)).toBe(true)
  const [count, path = ''] = readFileSync(`${command}.called`, 'utf8').split('\n')
  expect([count, namesIn(path).length]).toEqual(['1', 3])
  expect(readdirSync(join(folder, 'data/backups')).map((name) => join(folder, 'data/backups', name))).toContain(path)
  const variables = readFileSync(`${command}.env`, 'utf8')
  expect(variables).toContain('VAULT=remote')
  expect(variables).not.toMatch(/pet_|BACKUP_EVERY|DATABASE_URL/)
  expect(readdirSync(folder)).not.toContain('x')
  expect(await failedAttempts(await waitForOutput(server, /metrics and health at (http:[^"\s]+)/))).toBe(0)
})

test('a command that fails is logged with the end of its standard error, and counted', async () => {
  const folder = temporaryFolder()
  const database = makeDatabase(join(folder, 'data/petstore.db'), 3)
  const command = script(folder, `seq 5000 >&2; echo 'vault is not reachable' >&2; exit 3`)
  const schedule = startSchedule(database, command)
  const failed = await schedule.logged('The backup command failed')
  expect(failed.level).toBe('error')
  expect(failed.msg).toMatch(
    /^The backup command failed for \S+\.scheduled\.db\. .*\n4999\n5000\nvault is not reachable$/s,
  )
  expect(failed.msg.length).toBeLessThan(2_500)
  expect(schedule.failures).toEqual([1])
})

test('a command that fails is repeated after 1, 2, 4 and more minutes, until it succeeds or the next backup is due', async () => {
  const folder = temporaryFolder()
  const database = makeDatabase(join(folder, 'data/petstore.db'), 3)
  const command = script(folder, `echo "$1" >> "$0.calls"; [ $(wc -l < "$0.calls") -ge 7 ]`)
  const minute = 60_000
  const begin = Date.now()
  let now = begin
  const attempts: { failures: number; minutes: number }[] = []
  const { promise: isDone, resolve: finish } = Promise.withResolvers<void>()
  const stop = scheduleBackups(
    {
      program,
      databasePath: database,
      backupEvery: 20 * minute,
      backupKeep: 9,
      backupCommand: command,
      onAttempt(failures) {
        attempts.push({ failures, minutes: (now - begin) / minute })
        if (failures === 0) finish()
      },
    },
    pino({}, { write: () => {} }),
    {
      now: () => now,
      async wait(milliseconds) {
        now += milliseconds
        await setImmediate()
      },
    },
  )
  onTestFinished(stop)
  await isDone
  await stop()
  const times = [0, 1, 3, 7, 15, 20, 40]
  expect(attempts).toEqual(times.map((minutes, index) => ({ failures: minutes === 40 ? 0 : index + 1, minutes })))
  const calls = readFileSync(`${command}.calls`, 'utf8').trim().split('\n')
  const [first, second, third] = [...new Set(calls)]
  expect(calls).toEqual([first, first, first, first, first, second, third])
})

test('a command that takes longer than the interval is ended with the processes that it has started', async () => {
  const folder = temporaryFolder()
  const database = makeDatabase(join(folder, 'data/petstore.db'), 3)
  const command = script(folder, 'sleep 1000 & echo $! > "$0.partial"; mv "$0.partial" "$0.child"; wait')
  const schedule = startSchedule(database, command, 1_000)
  const failed = await schedule.logged('The backup command failed')
  expect(failed.msg).toMatch(/ It was stopped after 1 s\.$/)
  await schedule.stop()
  await expectEnded(`${command}.child`)
})

test('a stop of the service ends a command that ignores the request to stop, and logs no failure', async () => {
  const folder = temporaryFolder()
  makeDatabase(join(folder, 'data/petstore.db'), 3)
  const command = script(folder, `trap '' TERM; sleep 1000 & echo $! > "$0.partial"; mv "$0.partial" "$0.child"; wait`)
  const server = await startServer({ folder, env: { BACKUP_EVERY: '1h', BACKUP_COMMAND: command } })
  await expect.poll(() => existsSync(`${command}.child`)).toBe(true)
  const begin = performance.now()
  server.child.kill('SIGTERM')
  expect([await server.ended, server.stderr]).toEqual([0, ''])
  expect(performance.now() - begin).toBeLessThan(9_000)
  expect(server.stdout).not.toMatch(/failed|stopped by force/)
  await expectEnded(`${command}.child`)
})

test('a process that the command leaves behind with its standard error does not delay the schedule', async () => {
  const folder = temporaryFolder()
  const database = makeDatabase(join(folder, 'data/petstore.db'), 3)
  const command = script(folder, `setsid sleep 1000 & echo $! > "$0.child"; exit 0`)
  const schedule = startSchedule(database, command)
  await expect.poll(() => schedule.failures).toEqual([0])
  process.kill(Number(readFileSync(`${command}.child`, 'utf8')))
})

test('the command of the guide copies a backup and verifies the copy', async () => {
  const folder = temporaryFolder()
  const vault = temporaryFolder()
  const database = makeDatabase(join(folder, 'data/petstore.db'), 3)
  const guide = codeBlocksOf(document('docs/guides/backups.md'), 'sh').find(({ code }) => code.startsWith('#!/bin/sh'))
  const run = petstore.map((word) => `'${word}'`).join(' ')
  const code = String(guide?.code)
    .replaceAll('/mnt/vault', vault)
    .replace('/opt/petstore/node_modules/.bin/petstore', run)
  expect(code).toContain(run)
  const schedule = startSchedule(database, executable(join(folder, 'copy'), code))
  await expect.poll(() => schedule.failures).toEqual([0])
  const [copy = ''] = readdirSync(vault)
  expect(namesIn(join(vault, copy))).toEqual(['pet 1', 'pet 2', 'pet 3'])
})

test.for([
  ['nowhere', {}, /^ {2}BACKUP_COMMAND: .*nowhere cannot be executed: no such file or directory$/m],
  ['data', {}, /^ {2}BACKUP_COMMAND: .*data is not a file$/m],
  ['cp "$1" /mnt', {}, /^ {2}BACKUP_COMMAND: expected the path of a program without arguments, and cp/m],
  [process.execPath, { BACKUP_EVERY: '' }, /^ {2}BACKUP_COMMAND: expected only with BACKUP_EVERY, /m],
] as const)('the start is refused with the command %s', async ([command, env, message]) => {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'data'))
  const run = runPetstore({ folder, env: { BACKUP_EVERY: '1h', BACKUP_COMMAND: command, ...env } })
  expect([await run.ended, run.stdout]).toEqual([1, ''])
  expect(run.stderr).toMatch(message)
})

function script(folder: string, text: string): string {
  return executable(join(folder, 'command'), `#!/bin/sh\n${text}\n`)
}

function executable(path: string, text: string): string {
  writeFileSync(path, text)
  chmodSync(path, 0o755)
  return path
}

function startSchedule(databasePath: string, backupCommand: string, backupEvery = 3_600_000) {
  const lines: LogLine[] = []
  const failures: number[] = []
  const log = logTo({ write: (line) => void lines.push(...logLinesIn(line)) }, 'info')
  const onAttempt = (count: number) => void failures.push(count)
  const commandEnvironment = { PATH: process.env.PATH }
  const config = { program, databasePath, backupEvery, backupKeep: 7, backupCommand, commandEnvironment, onAttempt }
  const stop = scheduleBackups(config, log)
  onTestFinished(stop)
  async function logged(message: string): Promise<LogLine> {
    const find = () => lines.find(({ msg }) => msg.startsWith(message))
    await expect.poll(find).toBeDefined()
    return find() ?? { level: '', time: '', msg: '' }
  }
  return { failures, stop, logged }
}

async function failedAttempts(admin: string): Promise<number | undefined> {
  return readMetric(await (await fetch(`${admin}/metrics`)).text(), 'petstore_backup_failed_attempts')
}

/** Waits until the process whose id is in the file has ended. */
async function expectEnded(file: string): Promise<void> {
  const pid = Number(readFileSync(file, 'utf8'))
  await expect.poll(() => isRunning(pid)).toBe(false)
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0) && !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}
