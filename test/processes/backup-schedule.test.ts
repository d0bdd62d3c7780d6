import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { pino } from 'pino'
import { expect, onTestFinished, test, vi } from 'vitest'
import { deleteOldBackups, scheduleBackups } from '../../engine/service/serve/backup-schedule.ts'
import { logTo } from '../../engine/service/telemetry/log.ts'
import { newBackupPath } from '../../engine/store/sqlite/backup/inventory.ts'
import { fileTimestamp } from '../../engine/store/sqlite/file/files.ts'
import { type LogLine, logLinesIn } from '../../engine/test/support/log-lines.ts'
import { temporaryFolder } from '../../engine/test/support/temporary.ts'
import { backUp, commandLine, makeDatabase, textsIn } from '../support/petstore.ts'

const program = String(commandLine.at(-1))

test('the newest scheduled backups are kept, each with an audit line, and other files stay', async () => {
  const { folder, database, backups } = makeSample()
  const others = [
    'petstore.db-.scheduled.db',
    'petstore.db-notes.db',
    'petstore.db-2020-01-01T000000.000Z.db',
    'petstore.db-2020-13-01T000000.000Z.scheduled.db',
    // Of a database whose name differs only in the extension.
    'petstore-2020-01-01T000000.000Z.scheduled.db',
    'shop.db-2020-01-01T000000.000Z.scheduled.db',
  ]
  for (const name of others) writeFileSync(join(backups, name), 'precious')
  writeFileSync(join(backups, 'petstore.db-2020-01-01T000000.000Z.scheduled.db'), '')
  const byHand = await backUp(folder)
  const schedule = startSchedule(database, { backupEvery: 1, backupKeep: 2 })
  const made = await schedule.logged('audit', 3)
  await schedule.stop()
  const newest = made.at(-1)
  expect(newest).toMatchObject({
    level: 'info',
    action: 'database.backup',
    from: database,
    bytes: statSync(newest?.subject ?? '').size,
    milliseconds: expect.any(Number),
  })
  const kept = made.slice(-2).map(({ subject }) => basename(subject ?? ''))
  const withChecksums = [basename(byHand), ...kept].flatMap((name) => [name, `${name}.sha256`])
  expect(readdirSync(backups).toSorted()).toEqual([...others, ...withChecksums].toSorted())
  expect(textsIn(newest?.subject ?? '')).toEqual(['pet 1', 'pet 2', 'pet 3'])
})

test('backups with a name from the future are not deleted, and do not delay the next backup', async () => {
  const { database, backups } = makeSample()
  const present = basename(newBackupPath(database, '.scheduled.db'))
  const future = ['2098', '2099'].map((year) => present.replace(/-20\d\d-/, `-${year}-`))
  for (const name of future) writeFileSync(join(backups, name), '')
  const schedule = startSchedule(database, { backupEvery: 1, backupKeep: 1 })
  const made = await schedule.logged('audit', 2)
  await schedule.stop()
  const name = basename(made.at(-1)?.subject ?? '')
  expect(readdirSync(backups).toSorted()).toEqual([name, `${name}.sha256`, ...future].toSorted())
})

test('the backup just made stays, even if the clock went forward while it was made', async () => {
  const { database, backups } = makeSample()
  const stamps = ['2026-01-01', '2026-01-02', '2026-01-03'].map((day) => `${day}T000000.000Z`)
  const [made = '', older = '', newest = ''] = stamps.map((stamp) => join(backups, `petstore.db-${stamp}.scheduled.db`))
  for (const path of [made, older, newest]) writeFileSync(path, '')
  await deleteOldBackups(database, { made, keep: 2 })
  expect(readdirSync(backups)).toEqual([basename(made), basename(newest)])
})

test('a restart does not restart the interval', async () => {
  const { database, backups } = makeSample()
  writeFileSync(join(backups, `petstore.db-${fileTimestamp(Date.now() - 3_600_000)}.scheduled.db`), '')
  const early = startSchedule(database, { backupEvery: 9 * 7 * 24 * 3_600_000 })
  // Longer than a backup takes, because a stop would cancel it without a trace.
  await wait(1_500)
  await early.stop()
  expect(early.lines).toEqual([])
  expect(readdirSync(backups).length).toBe(1)
  const due = startSchedule(database, { backupEvery: 3_600_000 })
  await due.logged('audit', 1)
})

test('a failed backup is logged as an error with its message, and the next attempt follows', async () => {
  const { database } = makeSample()
  const bytes = readFileSync(database)
  writeFileSync(database, 'no database')
  const schedule = startSchedule(database, { backupEvery: 50 })
  const [failed] = await schedule.logged('The scheduled backup failed.', 1)
  const message = `The database ${database} cannot be used: it is not an SQLite database; choose another file.`
  expect(failed).toMatchObject({ level: 'error', msg: `The scheduled backup failed. ${message}`, err: { message } })
  writeFileSync(database, bytes)
  await schedule.logged('audit', 1)
})

test('a failed backup is tried again after five minutes', async () => {
  const folder = temporaryFolder()
  const database = makeDatabase(join(folder, 'data/petstore.db'), 3)
  writeFileSync(join(folder, 'data/backups'), 'in the way')
  vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const attempts: number[] = []
  const onAttempt = (failures: number) => void attempts.push(failures)
  const config = { program, databasePath: database, backupEvery: 24 * 3_600_000, backupKeep: 1, onAttempt }
  onTestFinished(scheduleBackups(config, pino({ enabled: false })))
  await expect.poll(() => attempts).toEqual([1])
  await vi.advanceTimersByTimeAsync(240_000)
  expect(attempts).toEqual([1])
  await vi.advanceTimersByTimeAsync(120_000)
  expect(attempts).toEqual([1, 2])
})

test('a backup is not called failed if only an old backup could not be deleted', async () => {
  const { database, backups } = makeSample()
  mkdirSync(join(backups, 'petstore.db-2020-01-01T000000.000Z.scheduled.db'))
  const schedule = startSchedule(database, { backupEvery: 60_000, backupKeep: 1 })
  const [failed] = await schedule.logged('Old backups could not be deleted.', 1)
  expect(failed).toMatchObject({ level: 'error', err: { message: expect.stringContaining('directory') } })
  expect(schedule.lines.map(({ msg }) => msg)).toEqual(['audit', failed?.msg])
})

function makeSample() {
  const folder = temporaryFolder()
  const database = makeDatabase(join(folder, 'data/petstore.db'), 3)
  const backups = join(folder, 'data/backups')
  mkdirSync(backups)
  return { folder, database, backups }
}

/** Runs the schedule with the log of a service. */
function startSchedule(databasePath: string, config: { backupEvery: number; backupKeep?: number }) {
  const lines: LogLine[] = []
  const log = logTo({ write: (line) => void lines.push(...logLinesIn(line)) }, 'info')
  const stop = scheduleBackups({ program, backupKeep: 7, ...config, databasePath }, log)
  onTestFinished(stop)
  async function logged(message: string, count: number): Promise<LogLine[]> {
    const found = () => lines.filter(({ msg }) => msg.startsWith(message))
    // A backup runs with a lower priority: on a busy machine, it takes minutes.
    await expect.poll(() => found().length, { timeout: 240_000 }).toBeGreaterThanOrEqual(count)
    return found()
  }
  return { lines, stop, logged }
}
