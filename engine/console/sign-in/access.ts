import { queryOptions, useQuery } from '@tanstack/react-query'
import type { ServiceClient } from '#client'
import { useClient } from '../client.ts'

/** What the service says about the API key. */
export function sessionOf(client: ServiceClient) {
  return queryOptions({
    queryKey: ['session'],
    // Not in a batch with the list, whose response the browser keeps.
    queryFn: ({ signal }) => client.session.current.query(undefined, { signal, context: { skipBatch: true } }),
  })
}

/** Whether the API key may only read. False until the service has said so. */
export function useIsReadOnly(): boolean {
  return useQuery({ ...sessionOf(useClient()), staleTime: Number.POSITIVE_INFINITY }).data?.access === 'read'
}
