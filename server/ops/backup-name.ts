import { basename, dirname, join } from 'node:path'

/** Where backups go that are given no other place. */
export function backupFolder(database: string): string {
  return join(dirname(database), 'backups')
}

/**
 * A path in that folder for a backup that is made now: backups/petstore.db-2026-11-21T043000.123Z.db. The name starts with
 * the full file name of the database, so that databases which share a folder never share a name of a backup.
 */
export function newBackupPath(database: string, ending: string): string {
  return join(backupFolder(database), `${basename(database)}-${stampOf(new Date())}${ending}`)
}

/** When the backup with this name was made, in milliseconds; `undefined` for any other name. */
export function timeInName(name: string, database: string, ending: string): number | undefined {
  const start = `${basename(database)}-`
  if (!name.startsWith(start) || !name.endsWith(ending)) return undefined
  const stamp = name.slice(start.length, -ending.length)
  const time = Date.parse(stamp.replace(/T(\d\d)(\d\d)/, 'T$1:$2:'))
  return !Number.isNaN(time) && stampOf(new Date(time)) === stamp ? time : undefined
}

/** A time in UTC as it stands in file names, which sort by it: 2026-11-21T043000.123Z */
export function stampOf(time: Date): string {
  return time.toISOString().replaceAll(':', '')
}
