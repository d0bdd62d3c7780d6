import { keepPreviousData, type QueryKey, skipToken, useQueries, useQuery, useQueryClient } from '@tanstack/react-query'
import type { PetStatus, PetstoreClient } from '../../client/index.ts'
import { usePetstore } from '../petstore.ts'
import { petStatuses } from './pet-status.ts'
import type { View } from './view.ts'

export const pageSize = 20

/** Milliseconds between two loads of the list, which show the pets that other clients add. */
const pageAge = 15_000
/** Milliseconds between two counts. */
const countAge = 60_000

/** One page and one more pet, which shows whether there is a next page. */
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

/** The pet with this id. Sends no request while the id is undefined. */
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

/** Cancels the query and starts it again. A refetch without cancelling would wait for the pending retry. */
function useRetryNow(queryKey: QueryKey): () => void {
  const queryClient = useQueryClient()
  return () => {
    void queryClient.cancelQueries({ queryKey }).then(() => queryClient.refetchQueries({ queryKey }))
  }
}

export interface Count {
  pets: number
  /** False if there are more pets than were counted. */
  isExact: boolean
}

/** The number of pets of each status. The API has no operation that counts, so this reads at most 10 pages of each list. */
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
  const maxPages = 10
  let cursor = 0n
  for (let page = 0; page < maxPages; page++) {
    const found = await pets.list.query({ status, cursor, limit }, { signal })
    const last = found.at(-1)
    if (!last || found.length < limit) return { pets: page * limit + found.length, isExact: true }
    cursor = last.id
  }
  return { pets: maxPages * limit, isExact: false }
}

export type PageQuery = ReturnType<typeof usePage>
export type PetQuery = ReturnType<typeof usePet>
