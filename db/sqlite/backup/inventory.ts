import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { BackupSizes } from '../../store.ts'
import { toFailure } from '../file/failure.ts'
import { backupFolder, timeInName } from './name.ts'

/** Of scheduled backups and of those that a person made. */
const endings = ['.scheduled.db', '.db']

/**
 * Measures the backups in the default folder. A backup gets its name only when it is complete. A name from the future says
 * nothing about the age of a backup, because the clock was wrong.
 */
export async function measureBackups(database: string): Promise<BackupSizes> {
  const folder = backupFolder(database)
  let bytes = 0
  let newest = 0
  for (const name of await namesIn(folder)) {
    const time = endings.map((ending) => timeInName(name, database, ending)).find((found) => found !== undefined)
    if (time === undefined) continue
    bytes += await sizeOf(join(folder, name))
    if (time <= Date.now()) newest = Math.max(newest, time)
  }
  return { bytes, newestAt: newest > 0 ? new Date(newest) : undefined }
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((error) => {
    if (toFailure(error).code === 'ENOENT') return []
    throw error
  })
}

/** 0 for a backup that was deleted meanwhile. */
async function sizeOf(path: string): Promise<number> {
  const file = await stat(path).catch(() => undefined)
  return file?.size ?? 0
}
