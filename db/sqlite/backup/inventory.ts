import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { BackupSizes } from '../../store.ts'
import { toFailure } from '../file/failure.ts'
import { backupFolder, scheduledEnding, timeInName } from './name.ts'

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
