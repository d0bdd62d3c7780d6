export type Fetch = typeof globalThis.fetch

export interface RetryOptions {
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
}

/** Request timeout, rate limit, overload, and the statuses of a gateway that cannot reach the service. */
const transientStatuses = [408, 429, 502, 503, 504]
/** Milliseconds. */
const firstPause = 200
/** MiB of a response body. The largest batch has far less, but another program may respond. */
const maxLength = 64
/** Milliseconds. A timer with a longer delay fires at once. */
const maxDelay = 2 ** 31 - 1

/**
 * Makes a `fetch` that retries transient failures, including a connection that breaks or stalls while the body is read. It
 * doubles the pause after each attempt, or waits as long as the response asks (`Retry-After`), up to `maxPause`. Jitter of
 * up to half the pause keeps clients that failed together from retrying together. An abort ends the pause. An error whose
 * cause is a `Response` is not retried. A batch is retried as a whole. Use it only for requests that the service may receive
 * twice.
 */
export function withRetries(fetch: Fetch, { retries = 3, maxPause = 10_000, timeout = 30_000 }: RetryOptions): Fetch {
  return async (input, init) => {
    for (let attempt = 0; ; attempt++) {
      let wait = firstPause * 2 ** attempt
      try {
        const response = await fetchWhole(fetch, timeout, input, init)
        if (attempt >= retries || !isTransient(response)) return response
        wait = Math.max(wait, retryAfter(response))
      } catch (error) {
        if (attempt >= retries || init?.signal?.aborted || Object(error).cause instanceof Response) throw error
      }
      await pause(Math.min(wait, maxPause) * (1 + Math.random() / 2), init?.signal)
    }
  }
}

/** Whether a retry may succeed. A batch (207) has `Retry-After` if one of its calls failed for a transient reason. */
function isTransient({ status, headers }: Response): boolean {
  return status === 207 ? headers.has('retry-after') : transientStatuses.includes(status)
}

/** Reads the whole body, so that a connection that breaks or stalls fails this attempt. */
async function fetchWhole(fetch: Fetch, timeout: number, ...[input, init]: Parameters<Fetch>): Promise<Response> {
  const limit = new AbortController()
  const onTimeout = () => limit.abort(new TypeError(`no complete response within ${timeout} ms`))
  const timer = setTimeout(onTimeout, Math.min(timeout, maxDelay))
  // `AbortSignal.any` is missing in older browsers and in React Native.
  const onAbort = () => limit.abort(init?.signal?.reason)
  if (init?.signal?.aborted) onAbort()
  init?.signal?.addEventListener('abort', onAbort)
  try {
    const response = await fetch(input, { ...init, signal: limit.signal })
    const text = await textOf(response)
    // The constructor throws on a body for status 204 or 304, even on an empty one.
    return new Response(text || null, response)
  } catch (error) {
    if (init?.signal?.aborted || !limit.signal.aborted) throw error
    throw limit.signal.reason
  } finally {
    clearTimeout(timer)
    init?.signal?.removeEventListener('abort', onAbort)
  }
}

async function textOf(response: Response): Promise<string> {
  // React Native has no streams.
  const reader = response.body?.getReader()
  if (!reader) return response.text()
  const decoder = new TextDecoder()
  let [text, length] = ['', 0]
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    length += value.byteLength
    if (length > maxLength * 2 ** 20) {
      void reader.cancel()
      throw new TypeError(`the response is larger than ${maxLength} MiB`, { cause: response })
    }
    text += decoder.decode(value, { stream: true })
  }
}

/** Milliseconds of `Retry-After`: a number of seconds or a date (RFC 9110, section 10.2.3). 0 without a valid one. */
function retryAfter({ headers }: Response): number {
  const value = headers.get('retry-after') ?? ''
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1_000
  // All three date formats of HTTP are in GMT, but the asctime format does not name the zone.
  const time = Date.parse(value.endsWith('GMT') ? value : `${value} GMT`)
  return Number.isNaN(time) ? 0 : time - Date.now()
}

function pause(milliseconds: number, signal: AbortSignal | null | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      if (signal?.aborted) reject(signal.reason)
      else resolve()
    }
    const timer = setTimeout(end, Math.min(milliseconds, maxDelay))
    signal?.addEventListener('abort', end)
    if (signal?.aborted) end()
  })
}
