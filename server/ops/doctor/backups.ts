import type { Backup } from '../../../db/sqlite/backup/inventory.ts'
import { describeDuration } from '../duration.ts'
import { failure, ok, type Verdict, warning } from './finding.ts'
import type { KnownTime } from './machine.ts'

export function newestBackup([newest]: Backup[]): KnownTime[] {
  return newest ? [{ name: 'the newest backup', time: new Date(newest.time) }] : []
}

/** @param interval between backups in milliseconds; undefined if none are scheduled. */
export function checkBackups(interval: number | undefined, list: () => Backup[], now: Date): Verdict {
  if (interval === undefined) return ok('No backups are scheduled, because BACKUP_EVERY is not set.')
  const newest = list().find(({ time, isScheduled }) => isScheduled && time <= now.getTime())
  if (!newest)
    return warning('There is no scheduled backup yet. Start the service, and look for "backup failed" in its log.')
  const age = now.getTime() - newest.time
  const message = `The newest scheduled backup is ${describeDuration(age)} old, and BACKUP_EVERY is ${describeDuration(interval)}.`
  if (age <= 2 * interval) return ok(message)
  return failure(`${message} Check that the service runs, and look for "backup failed" in its log.`)
}
