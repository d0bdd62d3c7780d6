import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Logger } from 'pino'
import { makeFolder } from '../../db/sqlite/files.ts'
import { backupFolder, newBackupPath, timeInName } from './backup-name.ts'

interface ScheduleConfig {
  databasePath: string
  /** Milliseconds between backups; without it there are none. */
  backupEvery: number | undefined
  backupKeep: number
}

/** Tells the schedule's backups from those that a person made, which are never deleted. */
const ending = '.scheduled.db'
/** A timer holds no more than 24 days, and does not count the time that a machine sleeps. */
const longestWait = 60_000
const launcher = fileURLToPath(new URL('../launch.mjs', import.meta.url))

/**
 * Backs up every `backupEvery` milliseconds and keeps the newest `backupKeep`. A failure is logged, and the next attempt
 * comes an interval later.
 *
 * @returns a function that ends this, and abandons the backup that may be under way.
 */
export function scheduleBackups(config: ScheduleConfig, log: Logger): () => Promise<void> {
  const { backupEvery } = config
  if (backupEvery === undefined) return async () => {}
  const stopping = new AbortController()
  const running = repeat(config, backupEvery, log, stopping.signal)
  return async () => {
    stopping.abort()
    await running
  }
}

async function repeat(config: ScheduleConfig, interval: number, log: Logger, stop: AbortSignal): Promise<void> {
  // By the last backup, not by the start, so that a service that is often restarted is backed up too.
  let due = newestTime(config.databasePath) + interval
  while (await isReached(due, interval, stop)) {
    due = Date.now() + interval
    try {
      await backUpOnce(config, log, stop)
    } catch (error) {
      log.error({ err: error }, 'backup failed')
    }
  }
}

/** Resolves to whether the time has come before the end. It has, too, if the clock was put back behind the last backup. */
async function isReached(due: number, interval: number, stop: AbortSignal): Promise<boolean> {
  while (!stop.aborted && Date.now() < due && due - Date.now() <= interval) {
    await wait(Math.min(due - Date.now(), longestWait), undefined, { signal: stop }).catch(() => {})
  }
  return !stop.aborted
}

async function backUpOnce({ databasePath, backupKeep }: ScheduleConfig, log: Logger, stop: AbortSignal): Promise<void> {
  const path = newBackupPath(databasePath, ending)
  makeFolder(dirname(path))
  const begin = performance.now()
  const problem = await runBackup(databasePath, path, stop)
  if (problem !== undefined) return stop.aborted ? undefined : log.error({ problem }, 'backup failed')
  log.info({ path, bytes: statSync(path).size, milliseconds: Math.round(performance.now() - begin) }, 'backup made')
  deleteOldBackups(databasePath, { made: path, keep: backupKeep })
}

/** Keeps the backup just made and the newest others, `keep` in all. The new one may look old: the clock can change meanwhile. */
export function deleteOldBackups(database: string, { made, keep }: { made: string; keep: number }): void {
  const others = scheduledBackups(database).filter(({ path }) => path !== made)
  for (const { path } of others.slice(keep - 1)) rmSync(path, { force: true })
}

/**
 * Runs the command in a process of its own, since a thread that copies cannot be stopped before the copy is complete.
 * It gives way to the service, and does not hear the terminal's Ctrl-C, which the service answers for it.
 *
 * @returns why it failed, if it did.
 */
async function runBackup(database: string, path: string, stop: AbortSignal): Promise<string | undefined> {
  const child = spawn(process.execPath, [launcher, 'backup', path], {
    env: { DATABASE_URL: pathToFileURL(database).href },
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
    windowsHide: true,
  })
  const closed = once(child, 'close')
  // If no process could be started (no file descriptor is left), `closed` rejects and `stderr` is missing.
  if (child.pid === undefined) await closed
  const kill = () => child.kill()
  stop.addEventListener('abort', kill)
  let problem = ''
  child.stderr.on('data', (chunk) => (problem += chunk))
  try {
    if (child.pid !== undefined) giveWay(child.pid)
    const [code, signal] = await closed
    return code === 0 ? undefined : problem.trim() || `It ended with ${signal ?? code}.`
  } finally {
    stop.removeEventListener('abort', kill)
  }
}

function giveWay(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL)
  } catch {
    // It has ended already, which is told by its exit code.
  }
}

/** The time of the newest scheduled backup, or 0. */
function newestTime(database: string): number {
  try {
    return scheduledBackups(database)[0]?.time ?? 0
  } catch {
    // Whatever is wrong with the folder is told by the attempt that is now due.
    return 0
  }
}

/** Newest first. Names from the future are left out: the clock was wrong when they were given, so they tell no age. */
function scheduledBackups(database: string): { path: string; time: number }[] {
  const folder = backupFolder(database)
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .map((name) => ({ path: join(folder, name), time: timeInName(name, database, ending) ?? Number.NaN }))
    .filter(({ time }) => time <= Date.now())
    .sort((a, b) => b.time - a.time)
}
