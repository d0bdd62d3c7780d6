import { type SQL, sql } from 'drizzle-orm'
import type { SearchFields } from '../resource.ts'

export const petStatuses = ['available', 'pending', 'sold'] as const
export type PetStatus = (typeof petStatuses)[number]

/** The fields by which a list can be filtered. Each needs an index in both tables. */
export const petFilters = ['status'] as const

/** The fields of the search besides the filters. */
export const petSearch = { name: 'text', categoryId: 'value' } as const satisfies SearchFields

/** The greatest number of pets that is counted, because counting takes longer the more there are. */
export const maxCount = 10_000

/** If the count is not exact, it is {@link maxCount} and there are more pets. */
export interface PetCount {
  count: number
  isExact: boolean
}

export type PetCounts = Record<PetStatus, PetCount>

/**
 * A statement that returns one row with a count for each status, in their order. It stops counting at one pet more than
 * {@link maxCount}.
 *
 * @param select selects the pets of a status
 */
export function countStatement(select: (status: SQL) => SQL): SQL {
  const counts = petStatuses.map(
    (status) =>
      sql`(SELECT count(*) FROM (${select(sql.raw(`'${status}'`))} LIMIT ${sql.raw(String(maxCount + 1))}) AS counted)`,
  )
  return sql`SELECT ${sql.join(counts, sql`, `)}`
}

/** @param row the counts in the order of {@link petStatuses}. */
export function toPetCounts(row: bigint[]): PetCounts {
  const counts = petStatuses.map((status, index) => [status, toPetCount(row[index] ?? 0n)])
  return Object.fromEntries(counts) as PetCounts
}

function toPetCount(counted: bigint): PetCount {
  return { count: Math.min(Number(counted), maxCount), isExact: counted <= maxCount }
}
