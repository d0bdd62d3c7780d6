import { readFileSync } from 'node:fs'

/**
 * How many files this process may have open. Only Linux shows it.
 *
 * @param limits a file in the format of proc_pid_limits(5)
 */
export function descriptorLimit(limits = '/proc/self/limits'): number | undefined {
  try {
    const [, limit] = /^Max open files +(\d+|unlimited)/m.exec(readFileSync(limits, 'utf8')) ?? []
    if (limit === undefined) return undefined
    return limit === 'unlimited' ? Number.POSITIVE_INFINITY : Number(limit)
  } catch {
    return undefined
  }
}
