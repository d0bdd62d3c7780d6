import {
  createTRPCClient,
  httpBatchLink,
  httpLink,
  type Operation,
  splitLink,
  type TRPCClient,
  TRPCClientError,
} from '@trpc/client'
import type { inferRouterInputs, inferRouterOutputs } from '@trpc/server'
import superjson from 'superjson'
import type { AppRouter } from '../server/router.ts'
import { createIdempotencyKey } from './idempotency-key.ts'
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
export type PetstoreError = TRPCClientError<AppRouter>
export type { AppRouter }

export type Pet = inferRouterOutputs<AppRouter>['pets']['create']
export type NewPet = inferRouterInputs<AppRouter>['pets']['create']
export type PetStatus = Pet['status']

/**
 * A typed client of the service: `petstore.pets.list.query({ limit: 5 })`. Identifiers are `bigint`. Queries made in the
 * same tick share an HTTP request.
 *
 * A request that finds the service away or overloaded is repeated after a pause. That never makes a second pet, since
 * each mutation has an idempotency key. To repeat one yourself, even from another process, choose its key:
 * `petstore.pets.create.mutate(pet, { context: { idempotencyKey: 'order-17' } })`.
 *
 * A failed call rejects with a `PetstoreError`, which `isPetstoreError` recognises.
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

/** Whether a call failed with this. Its `data` holds `code`, `message` and `status`, unless the service gave no answer. */
export function isPetstoreError(error: unknown): error is PetstoreError {
  return error instanceof TRPCClientError
}

/** The caller's own, or else a new one. */
function idempotencyKeyOf({ context }: Operation): string {
  return typeof context.idempotencyKey === 'string' ? context.idempotencyKey : createIdempotencyKey()
}
