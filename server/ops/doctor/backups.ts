import { existsSync, readdirSync } from 'node:fs'
import { backupFolder, timeInName } from '../../../db/sqlite/backup/name.ts'
import { scheduledSuffix } from '../backup-schedule.ts'
import { describeDuration } from '../duration.ts'
import { type Finding, failure, ok, warning } from './finding.ts'
import type { KnownTime } from './machine.ts'

/** The newest backup of any kind. */
export function newestBackup(database: string): KnownTime[] {
  try {
    const times = [...backupTimes(database, '.db'), ...backupTimes(database, scheduledSuffix)]
    return times.length === 0 ? [] : [{ name: 'the newest backup', time: new Date(Math.max(...times)) }]
  } catch {
    // checkBackups reports it.
    return []
  }
}

/** @param interval between backups in milliseconds; undefined if none are scheduled. */
export function checkBackups(database: string, interval: number | undefined, now: Date): Finding {
  if (interval === undefined) return ok('backups', 'No backups are scheduled, because BACKUP_EVERY is not set.')
  const past = backupTimes(database, scheduledSuffix).filter((time) => time <= now.getTime())
  if (past.length === 0) {
    return warning(
      'backups',
      'There is no scheduled backup yet. Start the service, and look for "backup failed" in its log.',
    )
  }
  const age = now.getTime() - Math.max(...past)
  const message = `The newest scheduled backup is ${describeDuration(age)} old, and BACKUP_EVERY is ${describeDuration(interval)}.`
  if (age <= 2 * interval) return ok('backups', message)
  return failure('backups', `${message} Check that the service runs, and look for "backup failed" in its log.`)
}

/** The times in the names of the backups, in milliseconds. */
function backupTimes(database: string, suffix: string): number[] {
  const folder = backupFolder(database)
  if (!existsSync(folder)) return []
  return readdirSync(folder).flatMap((name) => timeInName(name, database, suffix) ?? [])
}
