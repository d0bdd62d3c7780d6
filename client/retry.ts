export type Fetch = typeof globalThis.fetch

export interface RetryOptions {
  retries: number
  /** Milliseconds; 10 s by default. */
  maxPause?: number | undefined
}

/** Time-outs, overload, and gateways that found no service behind them. */
const transientStatuses = [408, 429, 502, 503, 504]
/** Milliseconds. */
const firstPause = 200

/**
 * Makes a `fetch` that retries transient failures, a connection that breaks within the response included. Each pause is
 * twice as long as the one before, or as long as the service says (`Retry-After`), and at most `maxPause`; up to half as
 * much is added at random, so that clients that failed together do not return together. Only for requests that may arrive
 * twice.
 */
export function withRetries(fetch: Fetch, { retries, maxPause = 10_000 }: RetryOptions): Fetch {
  return async (input, init) => {
    for (let attempt = 0; ; attempt++) {
      const outcome = await settle(fetch(input, init))
      if (attempt >= retries || !isTransient(outcome, init?.signal)) return take(outcome)
      const wait = Math.min(maxPause, Math.max(firstPause * 2 ** attempt, retryAfter(outcome)))
      await pause(wait * (1 + Math.random() / 2), init?.signal)
    }
  }
}

type Outcome = { response: Response } | { error: unknown }

async function settle(request: Promise<Response>): Promise<Outcome> {
  try {
    const response = await request
    const text = await response.text()
    // The constructor refuses even an empty text for a status without a body.
    return { response: new Response(text || null, response) }
  } catch (error) {
    return { error }
  }
}

function take(outcome: Outcome): Response {
  if ('error' in outcome) throw outcome.error
  return outcome.response
}

function isTransient(outcome: Outcome, signal: AbortSignal | null | undefined): boolean {
  return 'error' in outcome ? !signal?.aborted : transientStatuses.includes(outcome.response.status)
}

/** Milliseconds that the service asks to wait, by a number of seconds or a date (RFC 9110, section 10.2.3); 0 by default. */
function retryAfter(outcome: Outcome): number {
  const value = ('response' in outcome && outcome.response.headers.get('retry-after')) || ''
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1_000
  // All three forms are in GMT. That of asctime() does not say so.
  const time = Date.parse(value.endsWith('GMT') ? value : `${value} GMT`)
  return Number.isNaN(time) ? 0 : time - Date.now()
}

function pause(milliseconds: number, signal: AbortSignal | null | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const abort = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort)
      resolve()
    }, milliseconds)
    signal?.addEventListener('abort', abort, { once: true })
  })
}
