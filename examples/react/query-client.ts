import { hashKey, QueryClient } from '@tanstack/react-query'
import superjson from 'superjson'

/** TanStack Query hashes keys with JSON.stringify, which throws a TypeError for a bigint. superjson writes one as text. */
export const queryClient = new QueryClient({
  defaultOptions: { queries: { queryKeyHashFn: (key) => hashKey([superjson.serialize(key)]) } },
})
