import { queryOptions, useQuery } from '@tanstack/react-query'
import type { ServiceClient } from '#client'
import { useClient } from '../client.ts'
import { procedures } from '../requests/procedures.ts'
import { useResource } from './page-context.ts'

/** What the service says about the API key. */
export function sessionOf(client: ServiceClient) {
  return queryOptions({
    queryKey: ['session'],
    // Not in a batch with the list, whose response the browser keeps.
    queryFn: ({ signal }) => client.session.current.query(undefined, { signal, context: { skipBatch: true } }),
  })
}

/** What the service can do with the items, and the API key may do. A key may write until the service has said something else. */
export function useAccess() {
  const { many } = useResource().resource
  const access = useQuery({ ...sessionOf(useClient()), staleTime: Number.POSITIVE_INFINITY }).data?.access
  const isReadOnly = access === 'read'
  const has = (operation: string) => `${many}.${operation}` in procedures
  return {
    access,
    isReadOnly,
    canEdit: !isReadOnly && has('update'),
    canRemove: !isReadOnly && has('remove'),
    hasHistory: has('history'),
  }
}
