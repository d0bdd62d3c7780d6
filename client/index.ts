import { createTRPCClient, httpBatchLink, type TRPCClient } from '@trpc/client'
import superjson from 'superjson'
import type { AppRouter } from '../server/router.ts'

export interface PetstoreClientOptions {
  /** Where the service is, such as `http://127.0.0.1:3000`. */
  url: string
  apiKey: string
  /** Replaces the global `fetch`. */
  fetch?: typeof globalThis.fetch
}

export type PetstoreClient = TRPCClient<AppRouter>

/**
 * A typed client of the service: `petstore.pets.list.query({ limit: 5 })`. Identifiers are `bigint`. Calls made in the
 * same tick share an HTTP request. A failed call rejects with a `TRPCClientError` whose `data` holds `code`, `message`
 * and `status`.
 */
export function createPetstoreClient({ url, apiKey, fetch = globalThis.fetch }: PetstoreClientOptions): PetstoreClient {
  return createTRPCClient<AppRouter>({
    links: [
      httpBatchLink({
        url: `${url.replace(/\/+$/, '')}/trpc`,
        headers: { authorization: `Bearer ${apiKey}` },
        transformer: superjson,
        // What the service takes in one request.
        maxItems: 20,
        maxURLLength: 4_000,
        // tRPC's own type of it differs from RequestInit only in that absent fields may be undefined.
        fetch: (input, init) => fetch(input, init as RequestInit),
      }),
    ],
  })
}
