import { execFile } from 'node:child_process'
import { rmSync, statSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import type { Logger } from 'pino'
import {
  type Backup,
  checksumOf,
  createBackupFolder,
  listBackups,
  newBackupPath,
  scheduledEnding,
} from '#store/operator'
import type { Config } from '../config.ts'
import { type Audit, auditTo } from '../telemetry/audit.ts'

interface ScheduleConfig extends Pick<Config, 'backupEvery' | 'backupKeep'> {
  /** The path of the program whose command `backup` makes the backups. */
  program: string
  databasePath: string
  /** Called after each attempt with the number of attempts that have failed since the last one that succeeded. */
  onAttempt?: (failures: number) => void
}

/** Milliseconds from a failure to the next attempt. */
const retryInterval = 300_000
/** Milliseconds. A timer can wait for at most 24 days, and stops while the machine sleeps. */
const checkInterval = 10_000

/**
 * Backs up every `backupEvery` milliseconds, and keeps the newest `backupKeep` backups. A failure is logged, and the next
 * attempt follows soon. The returned function stops the schedule and cancels a running backup.
 */
export function scheduleBackups(config: ScheduleConfig, log: Logger): () => Promise<void> {
  const { databasePath, backupEvery: interval, onAttempt } = config
  if (interval === undefined) return async () => {}
  const stopping = new AbortController()
  const audit = auditTo(log)
  let failures = 0
  let delay = interval
  let from: number | undefined
  let running: Promise<void> | undefined

  const backUpIfDue = async () => {
    // The interval starts at the last backup, because a service that often restarts would otherwise never be backed up.
    // If the folder cannot be read, a backup is due, and its failure will say what is wrong with the folder.
    from ??= (await scheduledBackups(databasePath).catch(() => []))[0]?.time ?? 0
    const begin = Date.now()
    const rest = from + delay - begin
    // Also due if the clock was set back.
    const isDue = rest <= 0 || rest > delay
    if (!isDue || stopping.signal.aborted) return
    const isMade = await backUpOnce(config, log, audit, stopping.signal)
    failures = isMade ? 0 : failures + 1
    onAttempt?.(failures)
    from = isMade ? begin : Date.now()
    delay = isMade ? interval : Math.min(interval, retryInterval)
  }

  const check = () => {
    running ??= backUpIfDue().finally(() => (running = undefined))
  }

  check()
  const timer = setInterval(check, Math.min(interval, checkInterval))
  return async () => {
    clearInterval(timer)
    stopping.abort()
    await running
  }
}

/** Resolves to whether the backup was made. */
async function backUpOnce(
  { program, databasePath, backupKeep }: ScheduleConfig,
  log: Logger,
  audit: Audit,
  stop: AbortSignal,
): Promise<boolean> {
  const path = newBackupPath(databasePath, scheduledEnding)
  const begin = performance.now()
  try {
    createBackupFolder(databasePath)
    await runBackup(program, databasePath, path, stop)
  } catch (err) {
    if (!stop.aborted) log.error({ err }, `The scheduled backup failed. ${messageOf(err)}`)
    return false
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
  return true
}

/**
 * Runs the command `backup`, with a lower priority, because it must not delay requests. Its audit line is dropped, because
 * the service writes one. If it is cancelled, it removes what it has written.
 */
async function runBackup(program: string, database: string, path: string, stop: AbortSignal): Promise<void> {
  const env = { DATABASE_URL: pathToFileURL(database).href }
  const running = promisify(execFile)(process.execPath, [program, 'backup', path], { env, windowsHide: true })
  const { child } = running
  try {
    // Without a free file descriptor no process starts.
    if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL)
  } catch {
    // A sandbox refuses it, such as SystemCallFilter=~@resources of systemd. The backup is made all the same.
  }
  const cancel = () => void child.kill()
  stop.addEventListener('abort', cancel)
  try {
    await running
  } catch (error) {
    const problem = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : ''
    throw problem === '' ? error : new Error(problem)
  } finally {
    stop.removeEventListener('abort', cancel)
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

/** Newest first, without those from the future. */
async function scheduledBackups(database: string): Promise<Backup[]> {
  const backups = await listBackups(database)
  return backups.filter(({ time, isScheduled }) => isScheduled && time <= Date.now())
}
