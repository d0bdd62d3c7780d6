import { queryOptions } from '@tanstack/react-query'
import type { ServiceClient } from '#client'

/** What the service says about the API key. */
export function sessionOf(client: ServiceClient) {
  return queryOptions({
    queryKey: ['session'],
    // Not in a batch with the list, whose response the browser keeps.
    queryFn: ({ signal }) => client.session.current.query(undefined, { signal, context: { skipBatch: true } }),
  })
}
