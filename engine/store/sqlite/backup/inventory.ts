import { existsSync, utimesSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { BackupSizes } from '../../collection/base-store.ts'
import { toFailure } from '../file/failure.ts'
import { fileTimestamp, makeFile } from '../file/files.ts'
import type { Ownership } from '../file/ownership.ts'

export function backupFolder(database: string): string {
  return join(dirname(database), 'backups')
}

/** The ending of scheduled backups. Those that a person made end in `.db`, and are never deleted. */
export const scheduledEnding = '.scheduled.db'

/**
 * A path in that folder, named after the current time: `backups/shop.db-2026-11-21T043000.123Z.db`. The name starts with the
 * full file name of the database, so databases in one folder never share a backup name.
 */
export function newBackupPath(database: string, ending: string): string {
  return join(backupFolder(database), `${basename(database)}-${fileTimestamp()}${ending}`)
}

/** The time in the name of a backup, in milliseconds; `undefined` for any other name. */
function timeInName(name: string, database: string, ending: string): number | undefined {
  const start = `${basename(database)}-`
  if (!name.startsWith(start) || !name.endsWith(ending)) return undefined
  const timestamp = name.slice(start.length, -ending.length)
  const time = Date.parse(timestamp.replace(/T(\d\d)(\d\d)/, 'T$1:$2:'))
  return !Number.isNaN(time) && fileTimestamp(time) === timestamp ? time : undefined
}

export interface Backup {
  path: string
  /** The time in its name, in milliseconds. In the future if the clock was wrong, and then it says nothing about the age. */
  time: number
  isScheduled: boolean
}

/** Lists the backups in the default folder, the newest first. A backup gets its name only when it is complete. */
export async function listBackups(database: string): Promise<Backup[]> {
  const folder = backupFolder(database)
  const names = await readdir(folder).catch((error) => {
    if (toFailure(error).code === 'ENOENT') return []
    throw error
  })
  const backups = names.flatMap((name) =>
    [scheduledEnding, '.db'].map((ending) => ({
      path: join(folder, name),
      time: timeInName(name, database, ending) ?? Number.NaN,
      isScheduled: ending === scheduledEnding,
    })),
  )
  return backups.filter(({ time }) => !Number.isNaN(time)).sort((a, b) => b.time - a.time)
}

/** An empty file beside the database. Its time is that of the newest backup that {@link listBackups} does not find. */
function recordOf(database: string): string {
  return `${database}.backed-up`
}

export function recordBackup(database: string, ownership: Ownership): void {
  const [path, now] = [recordOf(database), new Date()]
  try {
    if (existsSync(path)) utimesSync(path, now, now)
    else makeFile(path, ownership)
  } catch {
    // The folder of the database may be read-only. The backup is complete, so it must not fail.
  }
}

/** The bytes of the backups in the default folder, and the time of the newest one in any place. */
export async function measureBackups(database: string): Promise<BackupSizes> {
  const backups = await listBackups(database)
  // A file may be deleted meanwhile.
  const files = await Promise.all(backups.map(({ path }) => stat(path).catch(() => undefined)))
  const record = await stat(recordOf(database)).catch(() => undefined)
  // In whole milliseconds, as the current time: otherwise a backup of this millisecond would be in the future.
  const recorded = Math.floor(record?.mtimeMs ?? 0)
  const times = [...backups.map(({ time }) => time), recorded].filter((time) => time <= Date.now())
  const newest = Math.max(0, ...times)
  return {
    bytes: files.reduce((sum, file) => sum + (file?.size ?? 0), 0),
    newestAt: newest > 0 ? new Date(newest) : undefined,
  }
}
