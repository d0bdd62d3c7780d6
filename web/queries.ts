import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query'
import type { PetStatus, PetstoreClient } from '../client/index.ts'
import { petStatuses } from './pet-status.ts'
import { usePetstore } from './petstore.ts'
import { problemOf } from './problem.ts'
import type { View } from './view.ts'

export const pageSize = 20

/** After how many milliseconds to ask again by itself for what could not be had: as long as that may pass. */
const untilItPassed = ({ state: { error } }: { state: { error: Error | null } }) =>
  error && problemOf(error).kind === 'passing' ? 2_000 : false

/** One page, and one pet more that tells whether there is a next one. */
export function usePage({ status, after }: Pick<View, 'status' | 'after'>) {
  const petstore = usePetstore()
  return useQuery({
    queryKey: ['pets', 'page', status ?? null, String(after)],
    queryFn: ({ signal }) => petstore.pets.list.query({ status, cursor: after, limit: pageSize + 1 }, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: untilItPassed,
  })
}

export function usePet(petId: bigint) {
  const petstore = usePetstore()
  return useQuery({
    queryKey: ['pets', 'one', String(petId)],
    queryFn: ({ signal }) => petstore.pets.get.query({ petId }, { signal }),
    refetchInterval: untilItPassed,
  })
}

export interface Count {
  pets: number
  /** False where counting stopped before the end. */
  isWhole: boolean
}

/** How many pets have each status. There is no operation that counts, so the lists are walked, up to a point. */
export function useCounts(): Record<PetStatus, Count | undefined> {
  const petstore = usePetstore()
  const queries = useQueries({
    queries: petStatuses.map((status) => ({
      queryKey: ['pets', 'count', status],
      queryFn: ({ signal }: { signal: AbortSignal }) => countPets(petstore, status, signal),
      refetchInterval: untilItPassed,
      staleTime: 10_000,
    })),
  })
  const [available, pending, sold] = queries.map(({ data }) => data)
  return { available, pending, sold }
}

async function countPets({ pets }: PetstoreClient, status: PetStatus, signal: AbortSignal): Promise<Count> {
  const limit = 100
  const mostPages = 10
  let cursor = 0n
  for (let page = 0; page < mostPages; page++) {
    const found = await pets.list.query({ status, cursor, limit }, { signal })
    const last = found.at(-1)
    if (!last || found.length < limit) return { pets: page * limit + found.length, isWhole: true }
    cursor = last.id
  }
  return { pets: mostPages * limit, isWhole: false }
}
