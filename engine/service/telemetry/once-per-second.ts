/** Milliseconds. */
const interval = 1_000
/** An outage has a few causes. More of them would be texts with values. */
const maxCauses = 1_000

/**
 * Whether a line about this cause may be logged: the number of lines about it that were not, or undefined if this one is not
 * either.
 */
export type MayLog = (cause: string) => number | undefined

/** Lets pass one line a second for each cause, so that an outage does not fill the disk. */
export function oncePerSecond(now = () => performance.now()): MayLog {
  const causes = new Map<string, { at: number; others: number }>()
  return (cause) => {
    const last = causes.get(cause)
    if (last && now() - last.at < interval) {
      last.others++
      return undefined
    }
    if (causes.size >= maxCauses) causes.clear()
    causes.set(cause, { at: now(), others: 0 })
    return last?.others ?? 0
  }
}
