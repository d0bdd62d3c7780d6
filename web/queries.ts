import { keepPreviousData, type QueryKey, skipToken, useQueries, useQuery, useQueryClient } from '@tanstack/react-query'
import type { PetStatus, PetstoreClient } from '../client/index.ts'
import { petStatuses } from './pet-status.ts'
import { usePetstore } from './petstore.ts'
import type { View } from './view.ts'

export const pageSize = 20

/** Milliseconds after which is looked for what others have added. */
const pageAge = 15_000
const countAge = 60_000

/** One page, and one pet more that tells whether there is a next one. */
export function usePage({ status, cursor }: Pick<View, 'status' | 'cursor'>) {
  const petstore = usePetstore()
  const queryKey = ['pets', 'page', status ?? null, String(cursor)]
  const retryNow = useRetryNow(queryKey)
  const query = useQuery({
    queryKey,
    queryFn: ({ signal }) => petstore.pets.list.query({ status, cursor, limit: pageSize + 1 }, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: pageAge,
  })
  return { ...query, retryNow }
}

/** Undefined asks for none. */
export function usePet(petId: bigint | undefined) {
  const petstore = usePetstore()
  const queryKey = ['pets', 'one', String(petId)]
  const retryNow = useRetryNow(queryKey)
  const query = useQuery({
    queryKey,
    queryFn: petId === undefined ? skipToken : ({ signal }) => petstore.pets.get.query({ petId }, { signal }),
  })
  return { ...query, retryNow }
}

/** A query that waits for its next trial can only be ended and begun anew: to refetch it would wait, too. */
function useRetryNow(queryKey: QueryKey): () => void {
  const queryClient = useQueryClient()
  return () => {
    void queryClient.cancelQueries({ queryKey }).then(() => queryClient.refetchQueries({ queryKey }))
  }
}

export interface Count {
  pets: number
  /** False where counting stopped before the end. */
  isWhole: boolean
}

/** How many pets have each status. There is no operation that counts, so the lists are walked, up to a point. */
export function useCounts(): Partial<Record<PetStatus, Count>> {
  const petstore = usePetstore()
  const queries = useQueries({
    queries: petStatuses.map((status) => ({
      queryKey: ['pets', 'count', status],
      queryFn: ({ signal }: { signal: AbortSignal }) => countPets(petstore, status, signal),
      staleTime: pageAge,
      refetchInterval: countAge,
    })),
  })
  return Object.fromEntries(petStatuses.map((status, index) => [status, queries[index]?.data]))
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

export type PageQuery = ReturnType<typeof usePage>
export type PetQuery = ReturnType<typeof usePet>
