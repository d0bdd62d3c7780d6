import type { Fetch } from './retry.ts'

/**
 * Makes a `fetch` whose errors name the service and the cause. A failure that a proxy reports in place of the service is
 * such an error, too, because tRPC cannot read it.
 */
export function withTransportErrors(fetch: Fetch, url: string): Fetch {
  return async (input, init) => {
    try {
      const response = await fetch(input, init)
      if (response.ok || (await isFromService(response.clone()))) return response
      throw new TypeError(`status ${response.status}, without a response of the service`)
    } catch (error) {
      // Fetch throws a TypeError for every network error. An abort keeps its own error.
      if (!(error instanceof TypeError)) throw error
      throw new TypeError(`The request to ${url} failed: ${reasonOf(error)}`, { cause: error })
    }
  }
}

/** Whether the body of an error is what tRPC sends: an object with `error`, or an array of them for a batch. */
async function isFromService(response: Response): Promise<boolean> {
  try {
    const body: unknown = await response.json()
    return Array.isArray(body) || (typeof body === 'object' && body !== null && 'error' in body)
  } catch {
    return false
  }
}

/** In Node the cause tells more than "fetch failed". For a host with several addresses it has a code and no message. */
function reasonOf({ message, cause }: TypeError): string {
  if (!(cause instanceof Error)) return message
  return cause.message || ('code' in cause ? String(cause.code) : message)
}
