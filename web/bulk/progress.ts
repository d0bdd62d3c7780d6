import type { Outcome } from './add-rows.ts'

export interface Progress {
  /** By the number of the row. */
  outcomes: ReadonlyMap<number, Outcome>
  /** How many rows were finished at which times of the last seconds. */
  samples: { time: number; rows: number }[]
}

export const noProgress: Progress = { outcomes: new Map(), samples: [] }

/** The period over which the rate is averaged, in milliseconds. */
const ratePeriod = 5_000

/** @param now in milliseconds */
export function advance({ outcomes, samples }: Progress, finished: [number, Outcome][], now: number): Progress {
  const all = finished.length > 0 ? new Map([...outcomes, ...finished]) : outcomes
  const recent = samples.filter(({ time }) => time >= now - ratePeriod)
  return { outcomes: all, samples: [...recent, { time: now, rows: all.size }] }
}

/** Rows per second, or undefined while that is not known. */
export function rateOf({ samples }: Progress): number | undefined {
  const [first, last] = [samples[0], samples.at(-1)]
  if (!first || !last || last.rows === first.rows || last.time === first.time) return undefined
  return ((last.rows - first.rows) / (last.time - first.time)) * 1_000
}

/** The numbers of rows with each kind of outcome. */
export function countOutcomes({ outcomes }: Progress): { [kind in Outcome['kind']]: number } {
  const counts = { added: 0, existed: 0, failed: 0 }
  for (const { kind } of outcomes.values()) counts[kind]++
  return counts
}
