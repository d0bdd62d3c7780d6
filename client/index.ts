import {
  createTRPCClient,
  httpBatchLink,
  httpLink,
  type Operation,
  splitLink,
  type TRPCClient,
  type TRPCClientError,
} from '@trpc/client'
import type { inferRouterInputs, inferRouterOutputs } from '@trpc/server'
import superjson from 'superjson'
import type { AppRouter } from '../server/router.ts'
import { createIdempotencyKey } from './idempotency-key.ts'
import { type Fetch, withRetries } from './retry.ts'
import { withTransportErrors } from './transport-error.ts'

export interface PetstoreClientOptions {
  /** Address of the service, such as `http://127.0.0.1:3000`. */
  url: string
  /** An API key of the service, such as `pet_…`. */
  apiKey: string
  /** Maximum number of retries of a request after transient failures; 3 by default. */
  retries?: number
  /**
   * Maximum pause before a retry in milliseconds, even if the service asks for a longer one; 10 s by default. Jitter adds
   * up to half of the pause.
   */
  maxPause?: number
  /**
   * Maximum time of an attempt in milliseconds, from its start to the end of the response body; 30 s by default. An attempt
   * that takes longer is a transient failure.
   */
  timeout?: number
  /** Replaces the global `fetch`. */
  fetch?: Fetch
  /** Returns further headers of a request, such as `traceparent` (https://www.w3.org/TR/trace-context/). */
  headers?: () => Record<string, string>
}

export type PetstoreClient = TRPCClient<AppRouter>
export type PetstoreError = TRPCClientError<AppRouter>
/** What went wrong, for a `switch`. A later version of the service may send further codes. */
export type PetstoreErrorCode = NonNullable<PetstoreError['data']>['code']
export type { AppRouter }

export type Pet = inferRouterOutputs<AppRouter>['pets']['create']
export type NewPet = inferRouterInputs<AppRouter>['pets']['create']
export type PetStatus = Pet['status']

/**
 * A typed client of the service: `petstore.pets.list.query({ limit: 5 })`. Identifiers are `bigint`. Queries made in the
 * same tick share an HTTP request.
 *
 * The client retries transient failures. Each create carries its own idempotency key, so a retry never adds a second
 * pet. To retry one yourself, even from another process, choose its key:
 * `petstore.pets.create.mutate(pet, { context: { idempotencyKey: 'order-17' } })`.
 *
 * A failed call rejects with a `PetstoreError`, which `isPetstoreError` recognises. `isAborted` tells whether the caller's
 * `signal` ended it.
 *
 * @throws {TypeError} if the API key is missing, or the URL is invalid or holds a user name or password.
 */
export function createPetstoreClient({
  url,
  apiKey,
  retries = 3,
  maxPause,
  timeout,
  fetch = globalThis.fetch,
  headers = () => ({}),
}: PetstoreClientOptions): PetstoreClient {
  checkUrl(url)
  checkApiKey(apiKey)
  const authorization = `Bearer ${apiKey}`
  const rpcUrl = `${url.replace(/\/+$/, '')}/trpc`
  const send = withTransportErrors(withRetries(fetch, { retries, maxPause, timeout }), rpcUrl)
  const http = {
    url: rpcUrl,
    transformer: superjson,
    // Safe: tRPC's own type of `init` differs from RequestInit only in that absent fields may be undefined.
    fetch: (input: Parameters<Fetch>[0], init?: object) => send(input, init as RequestInit),
  }
  return createTRPCClient<AppRouter>({
    links: [
      splitLink({
        condition: ({ type }) => type === 'mutation',
        true: httpLink({
          ...http,
          headers: ({ op }) => ({ ...headers(), authorization, 'idempotency-key': idempotencyKeyOf(op) }),
        }),
        // The limits of the service for one request.
        false: httpBatchLink({
          ...http,
          headers: () => ({ ...headers(), authorization }),
          maxItems: 20,
          maxURLLength: 4_000,
        }),
      }),
    ],
  })
}

/**
 * Whether an error is a `PetstoreError`, also one of another tRPC client of the service. Its `data` holds `code`, `message`
 * and `status`, and `issues` if the input is not valid. If no response of the service arrived, `data` is undefined, and the
 * message names the URL and the cause.
 */
export function isPetstoreError(error: unknown): error is PetstoreError {
  // Not instanceof: a package may bring its own copy of @trpc/client.
  if (!(error instanceof Error) || error.name !== 'TRPCClientError' || !('data' in error)) return false
  const { data } = error
  const isFromService = typeof data === 'object' && data !== null && 'code' in data && 'status' in data
  return isFromService || data === undefined
}

/**
 * Whether a call ended because its `signal` was aborted, also by `AbortSignal.timeout`. Such an error is a `PetstoreError`
 * without data. The service may have done what an aborted mutation asked for.
 */
export function isAborted(error: unknown): boolean {
  return isPetstoreError(error) && error.cause?.name === 'AbortError'
}

/** JavaScript and environment variables pass what the type excludes. Without a key, every call would fail with 401. */
function checkApiKey(apiKey: string | undefined): void {
  if (!apiKey?.trim()) throw new TypeError('The apiKey is missing: pass an API key of the service.')
}

/** Rejects credentials, because error messages contain the URL. In a browser the URL may be relative. */
function checkUrl(url: string): void {
  const base = 'http://service.invalid'
  if (!URL.canParse(url, base))
    throw new TypeError('The url of the service is invalid: expected a URL such as http://host:port.')
  const { username, password } = new URL(url, base)
  if (username !== '' || password !== '') {
    throw new TypeError('The url of the service must not hold a user name or password: pass the API key as apiKey.')
  }
}

/** The caller's idempotency key, or a new one. */
function idempotencyKeyOf({ context }: Operation): string {
  return typeof context.idempotencyKey === 'string' ? context.idempotencyKey : createIdempotencyKey()
}
