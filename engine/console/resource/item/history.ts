import { infiniteQueryOptions } from '@tanstack/react-query'
import type { ServiceClient } from '#client'
import type { Resource } from '../../resource.ts'
import { pageAge } from '../queries.ts'

/** Milliseconds from a load of the history to the next one. */
const maxAge = 4_000
/** The number of changes in a page: so many that those of an edit of many items are together. */
const size = 100

/** The changes of an item, or of all items, in pages. */
export function historyOf(resource: Resource, client: ServiceClient, id?: bigint) {
  const { history } = resource.procedures(client)
  return infiniteQueryOptions({
    queryKey: [resource.many, 'history', id],
    async queryFn({ pageParam, signal }) {
      const input = { ...(id !== undefined && { [`${resource.one}Id`]: id }), ...(pageParam && { cursor: pageParam }) }
      return (await history?.query({ ...input, limit: size }, { signal })) ?? []
    },
    initialPageParam: 0n,
    getNextPageParam: (last) => (last.length < size ? undefined : last.at(-1)?.id),
    staleTime: pageAge,
    // Each of its pages is a request.
    refetchInterval: ({ state }) => maxAge * (state.data?.pages.length ?? 1),
  })
}
