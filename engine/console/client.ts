import { createClient, type ServiceClient, type ServiceRouter } from '#client'
import { createRequiredContext } from './components/required-context.ts'
import { idempotencyKeysOf, loggedFetch } from './requests/log.ts'
import { serviceUrl } from './service.ts'

/** Milliseconds. The service itself gives up a create after 10 s. */
const timeout = 12_000
/** Milliseconds. */
const maxPause = 1_000

/** Whether the user is leaving the page: the browser then goes on with what is sent, at most 64 KiB. */
let isLeaving = false

export function followLeave(): void {
  addEventListener('pagehide', () => {
    isLeaving = true
  })
  addEventListener('pageshow', () => {
    isLeaving = false
  })
}

/** The idempotency keys of the requests that the service may have read. */
const keysRead = new Set<string>()

/** Whether the rate limit, or the check of the API key, refused all requests with an idempotency key. */
export function wasNeverRead(idempotencyKey = ''): boolean {
  return !keysRead.has(idempotencyKey)
}

/** Fails above a rate limit, with the response as the cause: the client would take that of a proxy for an outage. */
async function fetchWithinLimit(input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
  let status: number | undefined
  try {
    const response = await loggedFetch(input, isLeaving ? { ...init, keepalive: true } : init)
    status = response.status
    if (status === 429) throw new Error('Too many requests', { cause: response })
    return response
  } finally {
    if (status !== 401 && status !== 429) for (const key of idempotencyKeysOf(init)) keysRead.add(key)
  }
}

/** A client of the service that serves this page. It retries once, so that the console can show a failure soon. */
export function clientWith(apiKey: string): ServiceClient {
  return createClient<ServiceRouter>({
    url: serviceUrl(),
    apiKey,
    retries: 1,
    maxPause,
    timeout,
    fetch: fetchWithinLimit,
  })
}

/** The client with the API key of the session. */
export const [ClientProvider, useClient] = createRequiredContext<ServiceClient>()
