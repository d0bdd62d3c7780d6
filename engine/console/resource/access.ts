import { useQuery } from '@tanstack/react-query'
import { useClient } from '../client.ts'
import { procedures } from '../requests/procedures.ts'
import { sessionOf } from '../sign-in/access.ts'
import { useResource } from './page-context.ts'

/** What the service can do with the items, and the API key may do. A key may write until the service has said something else. */
export function useAccess() {
  const { many } = useResource().resource
  const session = useQuery({ ...sessionOf(useClient()), staleTime: Number.POSITIVE_INFINITY }).data
  const isReadOnly = session?.access === 'read'
  const has = (operation: string) => `${many}.${operation}` in procedures
  return {
    isReadOnly,
    canEdit: !isReadOnly && has('update'),
    canRemove: !isReadOnly && has('remove'),
    hasHistory: has('history'),
  }
}
