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
  /** Address of the service, without `/trpc`, such as `http://127.0.0.1:3000`. In a browser it may be relative to the page. */
  url: string
  /** An API key of the service, such as `pet_…`. */
  apiKey: string
  /** Maximum number of retries of a request after transient failures; 3 by default. */
  retries?: number | undefined
  /**
   * Maximum pause before a retry in milliseconds, even if the service asks for a longer one; 10 s by default. Jitter adds
   * up to half of the pause.
   */
  maxPause?: number | undefined
  /**
   * Maximum time of an attempt in milliseconds, from its start to the end of the response body; 30 s by default. An attempt
   * that takes longer is a transient failure.
   */
  timeout?: number | undefined
  /** Replaces the global `fetch`. */
  fetch?: Fetch | undefined
  /** Returns further headers of a request, such as `traceparent` (https://www.w3.org/TR/trace-context/). */
  headers?: (() => Record<string, string>) | undefined
}

export type PetstoreClient = TRPCClient<AppRouter>
export type PetstoreError = TRPCClientError<AppRouter>
/** What went wrong, for a `switch`. A later version of the service may send further codes. */
export type PetstoreErrorCode = NonNullable<PetstoreError['data']>['code']
/** An invalid field of the input. */
export type PetstoreIssue = NonNullable<NonNullable<PetstoreError['data']>['issues']>[number]
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
 * @throws {TypeError} if the API key is missing or contains a character that no key has, or if the URL is not one of HTTP or
 *   holds a user name or password.
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
  const authorization = `Bearer ${checkApiKey(apiKey)}`
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
        condition: ({ type, context }) => type === 'mutation' || context.skipBatch === true,
        true: (runtime) => (options) => {
          const { op } = options
          const link = httpLink({
            ...http,
            fetch: async (input, init) => {
              const response = await http.fetch(input, init)
              if (typeof op.context.onResponse === 'function') op.context.onResponse(response)
              return response
            },
            headers: {
              ...headers(),
              authorization,
              ...(op.type === 'mutation' && { 'idempotency-key': idempotencyKeyOf(op) }),
            },
          })
          return link(runtime)(options)
        },
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

/**
 * Returns the key without white space around it. JavaScript and environment variables pass what the type excludes: a missing
 * key would fail every call with 401, and a character that no header can carry would look like a service that is away.
 */
function checkApiKey(apiKey: string | undefined): string {
  const key = apiKey?.trim()
  if (!key) throw new TypeError('The apiKey is missing: pass an API key of the service.')
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new TypeError('The apiKey contains a character that no API key has: copy it again from where it was printed.')
  }
  return key
}

/** Rejects credentials, because error messages contain the URL. In a browser the URL may be relative. */
function checkUrl(url: string): void {
  // Safe: only browsers have a location. It becomes text.
  const { location } = globalThis as { location?: unknown }
  const page = location === undefined ? undefined : String(location)
  const parsed = URL.canParse(url, page) ? new URL(url, page) : undefined
  if (!parsed || !/^https?:$/.test(parsed.protocol))
    throw new TypeError('The url of the service is invalid: expected a URL such as http://host:port.')
  if (parsed.username !== '' || parsed.password !== '') {
    throw new TypeError('The url of the service must not hold a user name or password: pass the API key as apiKey.')
  }
}

/** The caller's idempotency key, or a new one. */
function idempotencyKeyOf({ context }: Operation): string {
  return typeof context.idempotencyKey === 'string' ? context.idempotencyKey : createIdempotencyKey()
}
