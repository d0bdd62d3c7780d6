import { rmSync, statSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import type { Logger } from 'pino'
import { createBackupFolder } from '../../../db/sqlite/backup/backup.ts'
import { checksumOf } from '../../../db/sqlite/backup/checksum.ts'
import { type Backup, listBackups } from '../../../db/sqlite/backup/inventory.ts'
import { newBackupPath, scheduledEnding } from '../../../db/sqlite/backup/name.ts'
import { type Audit, auditTo } from '../audit.ts'
import { describeDuration } from '../duration.ts'
import { runInBackground } from './background-process.ts'

interface ScheduleConfig {
  /** The path of the program whose command `backup` makes the backups. */
  program: string
  databasePath: string
  /** Milliseconds between backups; without it there are none. */
  backupEvery: number | undefined
  backupKeep: number
  /** The path of a program that gets the path of each backup as its argument, such as to copy it to another machine. */
  backupCommand?: string | undefined
  /** The environment of that program. */
  commandEnvironment?: Record<string, string | undefined>
  /** Called after each attempt with the number of attempts that have failed since the last one that succeeded. */
  onAttempt?: (failures: number) => void
}

/** Milliseconds. Each retry after a failure doubles the time to the next one. */
const firstRetry = 60_000
const maxRetry = 3_600_000
/** Milliseconds. A timer can wait for at most 24 days, and stops while the machine sleeps. */
const maxWait = 60_000
/** Milliseconds that the command may take, unless the next backup is due earlier. */
const maxCommandTime = 24 * 3_600_000

/** Tests replace it. */
interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** Resolves early if the schedule is stopped. */
  wait(milliseconds: number, stop: AbortSignal): Promise<void>
}

const systemClock: Clock = {
  now: Date.now,
  wait: (milliseconds, signal) => wait(milliseconds, undefined, { signal }).catch(() => {}),
}

/**
 * Backs up every `backupEvery` milliseconds, keeps the newest `backupKeep` backups, and runs the command for each. A backup
 * leaves an audit line. A failure is logged, and the next attempt follows soon.
 *
 * @returns a function that stops the schedule and cancels a running backup or command.
 */
export function scheduleBackups(config: ScheduleConfig, log: Logger, clock = systemClock): () => Promise<void> {
  const { backupEvery } = config
  if (backupEvery === undefined) return async () => {}
  const stopping = new AbortController()
  const running = repeat(config, backupEvery, log, { ...clock, stop: stopping.signal })
  return async () => {
    stopping.abort()
    await running
  }
}

interface Timing extends Clock {
  stop: AbortSignal
}

async function repeat(config: ScheduleConfig, interval: number, log: Logger, timing: Timing): Promise<void> {
  const audit = auditTo(log)
  let failures = 0
  const retryDelay = () => Math.min(interval, maxRetry, firstRetry * 2 ** (failures - 1))
  const count = (isGood: boolean) => {
    failures = isGood ? 0 : failures + 1
    config.onAttempt?.(failures)
    return isGood
  }
  /** Runs the command for a backup until it succeeds or the next backup is due. */
  async function runCommand(path: string, end: number): Promise<void> {
    while (!count(await runCommandOnce(config, path, interval, log, timing.stop))) {
      const delay = retryDelay()
      const due = timing.now() + delay
      if (due >= end || !(await isReached(due, delay, timing))) return
    }
  }
  // The interval starts at the last backup, because a service that often restarts would otherwise never be backed up.
  let from = await newestTime(config.databasePath)
  let delay = interval
  while (await isReached(from + delay, delay, timing)) {
    const begin = timing.now()
    const path = await backUpOnce(config, log, audit, timing.stop)
    if (path === undefined) count(false)
    else await runCommand(path, begin + interval)
    from = path === undefined ? timing.now() : begin
    delay = path === undefined ? retryDelay() : interval
  }
}

/** Resolves to whether the backup is due (true) or the schedule was stopped. It is also due if the clock was set back. */
async function isReached(due: number, delay: number, { now, wait, stop }: Timing): Promise<boolean> {
  while (!stop.aborted && now() < due && due - now() <= delay) await wait(Math.min(due - now(), maxWait), stop)
  return !stop.aborted
}

/** Resolves to the path of the backup, or undefined if it was not made. */
async function backUpOnce(
  config: ScheduleConfig,
  log: Logger,
  audit: Audit,
  stop: AbortSignal,
): Promise<string | undefined> {
  const { program, databasePath, backupKeep } = config
  const path = newBackupPath(databasePath, scheduledEnding)
  const begin = performance.now()
  try {
    createBackupFolder(databasePath)
    await runBackup(program, databasePath, path, stop)
  } catch (err) {
    if (!stop.aborted) log.error({ err }, `The scheduled backup failed. ${messageOf(err)}`)
    return undefined
  }
  const milliseconds = Math.round(performance.now() - begin)
  // Another program may have moved the file away by now.
  const bytes = statSync(path, { throwIfNoEntry: false })?.size
  audit('database.backup', path, { from: databasePath, bytes, milliseconds })
  try {
    await deleteOldBackups(databasePath, { made: path, keep: backupKeep })
  } catch (err) {
    log.error({ err }, `Old backups could not be deleted. Check the permissions of their folder. ${messageOf(err)}`)
  }
  return path
}

/** Resolves to whether the command succeeded. Without one, it did. */
async function runCommandOnce(
  { backupCommand, commandEnvironment = {} }: ScheduleConfig,
  path: string,
  interval: number,
  log: Logger,
  stop: AbortSignal,
): Promise<boolean> {
  if (backupCommand === undefined) return true
  const limit = Math.min(interval, maxCommandTime)
  const timeout = AbortSignal.timeout(limit)
  try {
    // The path is an argument, and no shell parses it.
    const program = { file: backupCommand, arguments: [path], env: commandEnvironment }
    await runInBackground(program, AbortSignal.any([stop, timeout]))
    return true
  } catch (err) {
    const reason = timeout.aborted ? `It was stopped after ${describeDuration(limit)}.` : messageOf(err)
    if (!stop.aborted) log.error({ err }, `The backup command failed for ${path}. ${reason}`)
    return false
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Keeps `keep` backups: the one just made, even if a change of the clock makes it look old, and the newest others. */
export async function deleteOldBackups(
  database: string,
  { made, keep }: { made: string; keep: number },
): Promise<void> {
  const others = (await scheduledBackups(database)).filter(({ path }) => path !== made)
  for (const { path } of others.slice(keep - 1)) {
    rmSync(checksumOf(path), { force: true })
    rmSync(path, { force: true })
  }
}

/** Runs the command `backup`. Its audit line is dropped, because the service writes one. */
async function runBackup(program: string, database: string, path: string, stop: AbortSignal): Promise<void> {
  const env = { DATABASE_URL: pathToFileURL(database).href }
  await runInBackground({ file: process.execPath, arguments: [program, 'backup', path], env }, stop)
}

/** The time of the newest scheduled backup, or 0. */
async function newestTime(database: string): Promise<number> {
  // If the folder cannot be read, a backup is due, and its failure will say what is wrong with the folder.
  const [newest] = await scheduledBackups(database).catch(() => [])
  return newest?.time ?? 0
}

/** Newest first, without those from the future. */
async function scheduledBackups(database: string): Promise<Backup[]> {
  const backups = await listBackups(database)
  return backups.filter(({ time, isScheduled }) => isScheduled && time <= Date.now())
}
