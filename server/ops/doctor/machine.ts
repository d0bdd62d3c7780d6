import { descriptorLimit } from '../../http/connections.ts'
import { failure, ok, type Verdict, warning } from './finding.ts'

/** What the checks read of the machine. Tests replace it. */
export interface Machine {
  now: Date
  /** The mount table in the format of fstab(5). */
  mountTable: string
  /** The limits of this process in the format of proc_pid_limits(5). */
  limits: string
}

/** The day of the newest release in CHANGELOG.md. */
export const releasedAt = new Date('2026-11-23')

/** Milliseconds that two clocks may differ. */
const tolerance = 60_000
/** Each connection of a client takes a descriptor. The database, its backups and the log take a few dozen. */
const minDescriptors = 256
const recommendedDescriptors = 1_024

export function thisMachine(): Machine {
  return { now: new Date(), mountTable: '/proc/self/mounts', limits: '/proc/self/limits' }
}

export function checkNode(): Verdict {
  return ok(`Node ${process.version} on ${process.platform} ${process.arch}.`)
}

/** A time that was recorded before now, such as by the database. */
export interface KnownTime {
  name: string
  time: Date
}

/** @param times must not be in the future. */
export function checkClock({ now }: Machine, times: KnownTime[]): Verdict {
  const advice = 'Set the clock, for example with NTP.'
  const shown = `The clock shows ${describe(now)}`
  if (now < releasedAt) return failure(`${shown}, which is before the release of this version. ${advice}`)
  const later = times.find(({ time }) => time.getTime() > now.getTime() + tolerance)
  if (later) return failure(`${shown}, but ${later.name} has the time ${describe(later.time)}. ${advice}`)
  return ok(`${shown}.`)
}

function describe(time: Date): string {
  return time.toISOString().slice(0, 19)
}

export function checkDescriptors({ limits }: Machine): Verdict {
  const limit = descriptorLimit(limits)
  if (limit === undefined) return ok('This system does not show the limit of open files.')
  const message = `A process may open ${limit === Number.POSITIVE_INFINITY ? 'unlimited' : limit} files.`
  if (limit >= recommendedDescriptors) return ok(message)
  const judge = limit < minDescriptors ? failure : warning
  return judge(
    `${message} Raise the limit to ${recommendedDescriptors} or more (ulimit -n, or LimitNOFILE of systemd).`,
  )
}
