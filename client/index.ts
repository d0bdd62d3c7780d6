import { createTRPCClient, httpBatchLink, httpLink, type Operation, splitLink, type TRPCClient } from '@trpc/client'
import superjson from 'superjson'
import type { AppRouter } from '../server/router.ts'
import { type Fetch, withRetries } from './retry.ts'

export interface PetstoreClientOptions {
  /** Where the service is, such as `http://127.0.0.1:3000`. */
  url: string
  apiKey: string
  /** How often to repeat a request that failed for a passing reason; 3 times by default. */
  retries?: number
  /** Replaces the global `fetch`. */
  fetch?: Fetch
}

export type PetstoreClient = TRPCClient<AppRouter>

/**
 * A typed client of the service: `petstore.pets.list.query({ limit: 5 })`. Identifiers are `bigint`. Queries made in the
 * same tick share an HTTP request.
 *
 * A request that finds the service away or overloaded is repeated after a pause. That never makes a second pet, since
 * each mutation has an idempotency key. To repeat one yourself, even from another process, choose its key:
 * `petstore.pets.create.mutate(pet, { context: { idempotencyKey: 'order-17' } })`.
 *
 * A failed call rejects with a `TRPCClientError` whose `data` holds `code`, `message` and `status`.
 */
export function createPetstoreClient({
  url,
  apiKey,
  retries = 3,
  fetch = globalThis.fetch,
}: PetstoreClientOptions): PetstoreClient {
  const authorization = `Bearer ${apiKey}`
  const send = withRetries(fetch, retries)
  const http = {
    url: `${url.replace(/\/+$/, '')}/trpc`,
    transformer: superjson,
    // tRPC's own type of it differs from RequestInit only in that absent fields may be undefined.
    fetch: (input: Parameters<Fetch>[0], init?: object) => send(input, init as RequestInit),
  }
  return createTRPCClient<AppRouter>({
    links: [
      splitLink({
        condition: ({ type }) => type === 'mutation',
        true: httpLink({ ...http, headers: ({ op }) => ({ authorization, 'idempotency-key': idempotencyKeyOf(op) }) }),
        // What the service takes in one request.
        false: httpBatchLink({ ...http, headers: { authorization }, maxItems: 20, maxURLLength: 4_000 }),
      }),
    ],
  })
}

/** The caller's own, or else 128 random bits. Unlike `randomUUID`, browsers make these on plain http too. */
function idempotencyKeyOf({ context }: Operation): string {
  if (typeof context.idempotencyKey === 'string') return context.idempotencyKey
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
