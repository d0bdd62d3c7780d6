export type Fetch = typeof globalThis.fetch

/** Time-outs, overload, and gateways that found no service behind them. */
const passing = [408, 429, 502, 503, 504]
/** Milliseconds. */
const firstPause = 200
const longestPause = 10_000

/**
 * Makes a `fetch` that repeats what failed for a passing reason, after as long as the service says (`Retry-After`) or else
 * after twice as long as before. Only for requests that may arrive twice.
 */
export function withRetries(fetch: Fetch, retries: number): Fetch {
  return async (input, init) => {
    for (let attempt = 0; ; attempt++) {
      const outcome = await settle(fetch(input, init))
      const wait = Math.max(firstPause * 2 ** attempt, secondsToWait(outcome) * 1_000)
      if (attempt >= retries || wait > longestPause || !mayPass(outcome, init?.signal)) return take(outcome)
      // Callers that failed together should not come back together.
      await pause(wait * (1 + Math.random() / 2), init?.signal)
    }
  }
}

type Outcome = { response: Response } | { error: unknown }

function settle(request: Promise<Response>): Promise<Outcome> {
  return request.then(
    (response) => ({ response }),
    (error: unknown) => ({ error }),
  )
}

function take(outcome: Outcome): Response {
  if ('error' in outcome) throw outcome.error
  return outcome.response
}

function mayPass(outcome: Outcome, signal: AbortSignal | null | undefined): boolean {
  return 'error' in outcome ? !signal?.aborted : passing.includes(outcome.response.status)
}

function secondsToWait(outcome: Outcome): number {
  const header = 'response' in outcome ? outcome.response.headers.get('retry-after') : null
  return Number(/^\d{1,9}$/.exec(header ?? '')?.[0] ?? 0)
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
