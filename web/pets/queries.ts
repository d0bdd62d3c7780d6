import {
  keepPreviousData,
  type QueryClient,
  queryOptions,
  skipToken,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { useEffect } from 'react'
import type { Pet, PetStatus, PetstoreClient } from '../../client/index.ts'
import { usePetstore } from '../petstore.ts'
import type { Count } from '../resource.ts'
import { petStatuses } from './pet.ts'
import type { View } from './view.ts'

export const pageSize = 20

/** Milliseconds between two loads of the list, which show the pets that other clients add. */
const pageAge = 15_000
/** Milliseconds between two counts. */
const countAge = 60_000

/** One page and one more pet, which shows whether there is a next page. */
export function pageOptions(petstore: PetstoreClient, { status, cursor }: Pick<View, 'status' | 'cursor'>) {
  return queryOptions({
    queryKey: ['pets', 'page', status ?? null, String(cursor)],
    queryFn: ({ signal }) => petstore.pets.list.query({ status, cursor, limit: pageSize + 1 }, { signal }),
    staleTime: pageAge,
  })
}

/** One pet. Until it is loaded, it is the row of a loaded page. */
function petOptions(petstore: PetstoreClient, petId: bigint | undefined, queryClient: QueryClient) {
  return queryOptions({
    queryKey: ['pets', 'one', String(petId)],
    queryFn: petId === undefined ? skipToken : ({ signal }) => petstore.pets.get.query({ petId }, { signal }),
    initialData: () => findRow(queryClient, petId)?.pet,
    initialDataUpdatedAt: () => findRow(queryClient, petId)?.loadedAt,
    staleTime: pageAge,
  })
}

/** The number of pets of each status. */
export function countsOptions(petstore: PetstoreClient) {
  return queryOptions({
    queryKey: ['pets', 'counts'],
    queryFn: ({ signal }) => petstore.pets.counts.query(undefined, { signal }),
    staleTime: countAge,
    refetchInterval: countAge,
  })
}

function findRow(queryClient: QueryClient, petId: bigint | undefined): { pet: Pet; loadedAt: number } | undefined {
  const pages = queryClient.getQueryCache().findAll({ queryKey: ['pets', 'page'] })
  for (const { queryKey, state } of pages) {
    const pet = queryClient.getQueryData<Pet[]>(queryKey)?.find(({ id }) => id === petId)
    if (pet) return { pet, loadedAt: state.dataUpdatedAt }
  }
  return undefined
}

export function usePage(view: Pick<View, 'status' | 'cursor'>) {
  return useQuery({
    ...pageOptions(usePetstore(), view),
    placeholderData: keepPreviousData,
    refetchInterval: pageAge,
  })
}

/** The pet with this id. Sends no request while the id is undefined. */
export function usePet(petId: bigint | undefined) {
  return useQuery(petOptions(usePetstore(), petId, useQueryClient()))
}

/** Loads the page after a loaded one. */
export function usePrefetchedPage(status: PetStatus | undefined, cursor: bigint | undefined): void {
  const petstore = usePetstore()
  const queryClient = useQueryClient()
  useEffect(() => {
    if (cursor !== undefined) void queryClient.prefetchQuery(pageOptions(petstore, { status, cursor }))
  }, [petstore, queryClient, status, cursor])
}

/** Loads a pet before it is opened. */
export function usePrefetchPet(): (petId: bigint) => void {
  const petstore = usePetstore()
  const queryClient = useQueryClient()
  return (petId) => void queryClient.prefetchQuery(petOptions(petstore, petId, queryClient))
}

/** Loads everything again that is shown. Without cancelling, a query would wait for its pending retry. */
export function useRefresh(): () => void {
  const queryClient = useQueryClient()
  return () => {
    const pets = { queryKey: ['pets'] }
    void queryClient.cancelQueries(pets).then(() => queryClient.invalidateQueries(pets))
  }
}

export type Counts = Record<PetStatus, Count>

/** The number of pets of a status, or of all pets. Undefined until they are counted. */
export function totalOf(counts: Counts | undefined, status: PetStatus | undefined): Count | undefined {
  if (!counts) return undefined
  return (status ? [status] : petStatuses)
    .map((each) => counts[each])
    .reduce((sum, { count, isExact }) => ({ count: sum.count + count, isExact: sum.isExact && isExact }))
}

export type PageQuery = ReturnType<typeof usePage>
export type PetQuery = ReturnType<typeof usePet>
