import { maxCount, type PetCount, type PetCounts, type PetStatus, petStatuses } from './store.ts'

/** The pets of each status that were counted, in the order of {@link petStatuses}. */
export type CountRow = [available: bigint, pending: bigint, sold: bigint]

/**
 * A statement that returns a {@link CountRow}. It stops counting at one pet more than {@link maxCount}.
 *
 * @param select selects the pets of a status
 */
export function countStatement(select: (status: PetStatus) => string): string {
  const counts = petStatuses.map(
    (status) => `(SELECT count(*) FROM (${select(status)} LIMIT ${maxCount + 1}) AS counted)`,
  )
  return `SELECT ${counts.join(', ')}`
}

export function toPetCounts([available, pending, sold]: CountRow): PetCounts {
  return { available: toPetCount(available), pending: toPetCount(pending), sold: toPetCount(sold) }
}

function toPetCount(counted: bigint): PetCount {
  return { count: Math.min(Number(counted), maxCount), isExact: counted <= maxCount }
}
