import { existsSync, readdirSync } from 'node:fs'
import { backupFolder, timeInName } from '../../../db/sqlite/backup/name.ts'
import { scheduledSuffix } from '../backup-schedule.ts'
import { describeDuration } from '../duration.ts'
import { failure, ok, type Verdict, warning } from './finding.ts'
import type { KnownTime } from './machine.ts'

/** The times in the names of the backups, in milliseconds. */
interface BackupTimes {
  scheduled: number[]
  /** Made by a person. */
  others: number[]
}

export function readBackupTimes(database: string): BackupTimes {
  const folder = backupFolder(database)
  const names = existsSync(folder) ? readdirSync(folder) : []
  const timesWith = (suffix: string) => names.flatMap((name) => timeInName(name, database, suffix) ?? [])
  return { scheduled: timesWith(scheduledSuffix), others: timesWith('.db') }
}

export function newestBackup({ scheduled, others }: BackupTimes): KnownTime[] {
  const times = [...scheduled, ...others]
  return times.length === 0 ? [] : [{ name: 'the newest backup', time: new Date(Math.max(...times)) }]
}

/** @param interval between backups in milliseconds; undefined if none are scheduled. */
export function checkBackups(interval: number | undefined, read: () => BackupTimes, now: Date): Verdict {
  if (interval === undefined) return ok('No backups are scheduled, because BACKUP_EVERY is not set.')
  const past = read().scheduled.filter((time) => time <= now.getTime())
  if (past.length === 0)
    return warning('There is no scheduled backup yet. Start the service, and look for "backup failed" in its log.')
  const age = now.getTime() - Math.max(...past)
  const message = `The newest scheduled backup is ${describeDuration(age)} old, and BACKUP_EVERY is ${describeDuration(interval)}.`
  if (age <= 2 * interval) return ok(message)
  return failure(`${message} Check that the service runs, and look for "backup failed" in its log.`)
}
