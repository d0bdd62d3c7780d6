import {
  createTRPCClient,
  httpBatchLink,
  httpLink,
  type Operation,
  splitLink,
  type TRPCClient,
  type TRPCClientError,
} from '@trpc/client'
import type { AnyRouter, TRPCBuiltRouter, TRPCDecorateCreateRouterOptions } from '@trpc/server'
import superjson from 'superjson'
import type { RpcError, sessionRouter } from '#service'
import { Batch } from './batch.ts'
import { type Fetch, type RetryOptions, withRetries } from './retry.ts'
import { withTransportErrors } from './transport-error.ts'

export interface ClientOptions extends RetryOptions {
  /** Address of the service, without `/trpc`, such as `http://127.0.0.1:3000`. In a browser it may be relative to the page. */
  url: string
  /** An API key of the service. */
  apiKey: string
  /** Replaces the global `fetch`. An error that it throws with a `Response` as its cause is not retried. */
  fetch?: Fetch | undefined
  /** Returns further headers of a request, such as `traceparent` (https://www.w3.org/TR/trace-context/). */
  headers?: (() => Record<string, string>) | undefined
}

/** What the routers of all services have in common. */
export type ServiceRouter = TRPCBuiltRouter<
  { ctx: object; meta: object; errorShape: RpcError; transformer: true },
  TRPCDecorateCreateRouterOptions<{ session: typeof sessionRouter }>
>
export type ServiceClient = TRPCClient<ServiceRouter>
export type ServiceError = TRPCClientError<ServiceRouter>
/** An invalid field of the input. */
export type ServiceIssue = NonNullable<NonNullable<ServiceError['data']>['issues']>[number]

/**
 * A typed client of a router. Queries made in the same tick share an HTTP request, and those with a signal share another
 * one. Mutations share a request if their contexts have the same `Batch`. It retries transient failures. Each mutation
 * carries an idempotency key: that of its context, or its own.
 *
 * @throws {TypeError} if an option is not valid, or the runtime too old.
 */
export function createClient<Router extends AnyRouter>({
  url,
  apiKey,
  fetch = globalThis.fetch,
  headers = () => ({}),
  ...retryOptions
}: ClientOptions): TRPCClient<Router> {
  checkRuntime()
  checkUrl(url)
  checkNumbers(retryOptions)
  const authorization = `Bearer ${checkApiKey(apiKey)}`
  const rpcUrl = `${url.replace(/\/+$/, '')}/trpc`
  const send = withTransportErrors(withRetries(fetch, retryOptions), rpcUrl)
  const http = {
    url: rpcUrl,
    transformer: superjson,
    // Safe: tRPC's own type of `init` differs from RequestInit only in that absent fields may be undefined.
    fetch: (input: Parameters<Fetch>[0], init?: object) => send(input, init as RequestInit),
  }
  // The limits of the service for one request.
  const batch = httpBatchLink<ServiceRouter>({
    ...http,
    headers: () => ({ ...lowercased(headers()), authorization }),
    maxItems: 20,
    maxURLLength: 8_000,
  })
  const client = createTRPCClient<ServiceRouter>({
    links: [
      splitLink({
        condition: ({ type, context }) => type === 'mutation' || context.skipBatch === true,
        true: (runtime) => (options) => {
          const { op } = options
          const link = httpLink({
            ...http,
            fetch: async (input, init) => {
              const { batch, onResponse } = op.context
              const response = await (batch instanceof Batch
                ? batch.fetch(http.fetch, String(input), init ?? {})
                : http.fetch(input, init))
              if (typeof onResponse === 'function') onResponse(response)
              return response
            },
            headers: {
              ...lowercased(headers()),
              authorization,
              ...(op.type === 'mutation' && { 'idempotency-key': idempotencyKeyOf(op) }),
            },
          })
          // tRPC would refuse a call whose signal is aborted before it reaches the batch, whose other calls would wait.
          return link(runtime)(
            op.context.batch instanceof Batch ? { ...options, op: { ...op, signal: null } } : options,
          )
        },
        // A batch ignores the signals of its queries unless all of them have one.
        false: splitLink({ condition: ({ signal }) => signal != null, true: batch, false: batch }),
      }),
    ],
  })
  // Safe: the procedures of a client are made when they are called, by their names.
  return client as unknown as TRPCClient<Router>
}

/**
 * Whether an error is that of a call, also of another copy of @trpc/client. Without a response of the service it has no
 * data.
 */
export function isServiceError(error: unknown): error is ServiceError {
  // Not instanceof: a package may bring its own copy of @trpc/client.
  if (!(error instanceof Error) || error.name !== 'TRPCClientError' || !('data' in error)) return false
  const { data } = error
  const isFromService = typeof data === 'object' && data !== null && 'code' in data && 'status' in data
  return isFromService || data === undefined
}

/**
 * Whether a call ended because its `signal` was aborted, also by `AbortSignal.timeout`. Such an error has no data. The
 * service may have done what an aborted mutation asked for.
 */
export function isAborted(error: unknown): boolean {
  return isServiceError(error) && error.cause?.name === 'AbortError'
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
  const parsed = parseUrl(url, page)
  if (!parsed || !/^https?:$/.test(parsed.protocol))
    throw new TypeError('The url of the service is invalid: expected a URL such as http://host:port.')
  if (parsed.username !== '' || parsed.password !== '') {
    throw new TypeError('The url of the service must not hold a user name or password: pass the API key as apiKey.')
  }
  // URL would remove or replace them, but the address of a request is made of the text.
  if (/[\s\\]/.test(url)) throw new TypeError('The url of the service must not hold white space or a backslash.')
  if (/[?#]/.test(url) || /\/(?:v1|trpc)$/.test(parsed.pathname.replace(/\/+$/, '')))
    throw new TypeError('The url of the service must end before ?, #, /v1 and /trpc.')
}

/** `URL.canParse` is missing in older browsers and in React Native. */
function parseUrl(url: string, page: string | undefined): URL | undefined {
  try {
    return new URL(url, page)
  } catch {
    return undefined
  }
}

/** Without random bytes, two creates could get the same idempotency key. */
function checkRuntime(): void {
  // Safe: it is missing in older runtimes.
  const { crypto } = globalThis as { crypto?: { getRandomValues?: unknown } }
  if (!crypto?.getRandomValues)
    throw new TypeError('The client needs crypto.getRandomValues: use a newer runtime, or a polyfill.')
}

/** NaN, such as of an environment variable that is not set, would retry without end. */
function checkNumbers({ retries, maxPause, timeout }: RetryOptions): void {
  for (const [name, value] of Object.entries({ retries, maxPause, timeout })) {
    if (value !== undefined && !(value >= 0))
      throw new TypeError(`The option ${name} must be a number, and not negative.`)
  }
}

/** A header in two spellings would be sent as one with both values. */
function lowercased(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

/** The caller's idempotency key, or a new one. */
function idempotencyKeyOf({ context }: Operation): string {
  return typeof context.idempotencyKey === 'string' ? context.idempotencyKey : createIdempotencyKey()
}

/** An idempotency key of 128 random bits in hexadecimal. `randomUUID` is missing on pages that are served by plain HTTP. */
export function createIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
