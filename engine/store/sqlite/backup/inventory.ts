import { readdir, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { BackupSizes } from '../../base-store.ts'
import { toFailure } from '../file/failure.ts'
import { fileTimestamp } from '../file/files.ts'

/** The default folder for backups. */
export function backupFolder(database: string): string {
  return join(dirname(database), 'backups')
}

/** The ending of scheduled backups. Those that a person made end in `.db`, and are never deleted. */
export const scheduledEnding = '.scheduled.db'

/**
 * A path in that folder, named after the current time: `backups/shop.db-2026-11-21T043000.123Z.db`. The name starts
 * with the full file name of the database, so databases in one folder never share a backup name.
 *
 * @param ending such as `.db`
 */
export function newBackupPath(database: string, ending: string): string {
  return join(backupFolder(database), `${basename(database)}-${fileTimestamp()}${ending}`)
}

/** The time in the name of a backup, in milliseconds; `undefined` for any other name. */
export function timeInName(name: string, database: string, ending: string): number | undefined {
  const start = `${basename(database)}-`
  if (!name.startsWith(start) || !name.endsWith(ending)) return undefined
  const timestamp = name.slice(start.length, -ending.length)
  const time = Date.parse(timestamp.replace(/T(\d\d)(\d\d)/, 'T$1:$2:'))
  return !Number.isNaN(time) && fileTimestamp(time) === timestamp ? time : undefined
}

export interface Backup {
  path: string
  /** In milliseconds, from its name. In the future if the clock was wrong, and then it says nothing about the age. */
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

export async function measureBackups(database: string): Promise<BackupSizes> {
  const backups = await listBackups(database)
  let bytes = 0
  for (const { path } of backups) bytes += await sizeOf(path)
  const newest = backups.find(({ time }) => time <= Date.now())
  return { bytes, newestAt: newest && new Date(newest.time) }
}

/** 0 for a backup that was deleted meanwhile. */
async function sizeOf(path: string): Promise<number> {
  const file = await stat(path).catch(() => undefined)
  return file?.size ?? 0
}
