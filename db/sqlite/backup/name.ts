import { basename, dirname, join } from 'node:path'
import { fileTimestamp } from '../file/files.ts'

/** The default folder for backups. */
export function backupFolder(database: string): string {
  return join(dirname(database), 'backups')
}

/** The ending of scheduled backups. Those that a person made end in `.db`, and are never deleted. */
export const scheduledEnding = '.scheduled.db'

/**
 * A path in that folder, named after the current time: `backups/petstore.db-2026-11-21T043000.123Z.db`. The name starts
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

/** Between the name of a database and the time, in the name of a copy that a running service saved. */
export const rescuedMark = '.rescued-'
