import type { Fetch } from './retry.ts'

/**
 * Makes a `fetch` whose errors name the URL of the service and the cause. It also throws such an error, with the response as
 * its cause, if a proxy responds in place of the service, because tRPC cannot read the proxy's response.
 */
export function withTransportErrors(fetch: Fetch, url: string): Fetch {
  const failed = (reason: string, cause: unknown) => new TypeError(`The request to ${url} failed: ${reason}`, { cause })
  return async (input, init) => {
    const response = await fetch(input, init).catch((error: unknown) => {
      // Fetch throws a TypeError for every network error. An abort keeps its own error.
      throw error instanceof TypeError ? failed(reasonOf(error), error) : error
    })
    if (await isFromService(response.clone())) return response
    throw failed(`status ${response.status}, without a response of the service`, response)
  }
}

/** Whether the body is what tRPC sends: an object with `result` or `error`, or an array of them for a batch. */
async function isFromService(response: Response): Promise<boolean> {
  try {
    const body: unknown = await response.json()
    if (typeof body !== 'object' || body === null) return false
    // Gateways send an `error`, too.
    const error = 'error' in body ? body.error : undefined
    return Array.isArray(body) || 'result' in body || (typeof error === 'object' && error !== null && 'json' in error)
  } catch {
    return false
  }
}

/** Node puts the reason into the cause of "fetch failed". For a host with several addresses the cause has only a code. */
function reasonOf({ message, cause }: TypeError): string {
  if (!(cause instanceof Error)) return message
  return cause.message || ('code' in cause ? String(cause.code) : message)
}
