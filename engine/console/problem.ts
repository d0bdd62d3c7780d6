import { isServiceError, type ServiceError, type ServiceIssue } from '#client'

export interface Problem {
  /**
   * Transient: `unreachable` (no response) and `busy` (overload, internal error, rate limit, a response of a proxy). Permanent:
   * `refused` (the API key), `missing` (the item), `conflict` (somebody changed the item) and `permanent` (anything else).
   */
  kind: 'unreachable' | 'busy' | 'refused' | 'missing' | 'conflict' | 'permanent'
  /** A sentence for the user. */
  message: string
  /** The id of the request in the log of the service. */
  requestId?: string | undefined
  /** Whether the service failed (500). Repeating the request may never help. */
  isFault?: boolean | undefined
  /** Seconds until the rate limit allows another request. */
  retryAfter?: number | undefined
  /** The invalid values of the input. */
  issues?: ServiceIssue[] | undefined
}

export const keyInvalid = 'This key is not valid.'
const unexpected = 'The service gave an unexpected response.'

/** No item has the id. */
export class MissingItem extends Error {}

/** The problem to report for a failed call. */
export function problemOf(error: unknown): Problem {
  if (error instanceof MissingItem) return { kind: 'missing', message: error.message }
  if (isUnreadable(error)) return { kind: 'busy', message: unexpected }
  if (!isServiceError(error)) return { kind: 'permanent', message: 'This page has an error. Reload it.' }
  const response = responseOf(error)
  if ((error.data ?? response)?.status === 429) {
    const retryAfter = Number(response?.headers.get('retry-after') ?? Number.NaN)
    return { kind: 'busy', message: 'Too many requests.', retryAfter: retryAfter > 0 ? retryAfter : undefined }
  }
  // A gateway that could not reach the service sends 502, 503 or 504.
  if (!error.data && response && !/^50[234]$/.test(String(response.status)))
    return { kind: 'busy', message: unexpected }
  const offline = navigator.onLine ? '' : ': this device is offline'
  if (!error.data) return { kind: 'unreachable', message: `The service cannot be reached${offline}.` }
  const { code, status, message, issues } = error.data
  const requestId = response?.headers.get('x-request-id') ?? undefined
  if (status === 401) return { kind: 'refused', message: keyInvalid }
  const known = code === 'unprocessable' ? 'This was sent before with other values. Reload the page.' : message
  if (status === 404) return { kind: 'missing', message: known }
  if (status >= 500)
    return { kind: 'busy', message: 'The service is not available at the moment.', requestId, isFault: status === 500 }
  // Without the fields that somebody has changed, a rule has refused it, such as that of a reference.
  const isChanged = issues?.some((issue) => issue.code === 'changed')
  return { kind: isChanged ? 'conflict' : 'permanent', message: known, requestId, issues }
}

export function isTransient({ kind }: Problem): boolean {
  return kind === 'unreachable' || kind === 'busy'
}

/**
 * Milliseconds to wait before the next retry, after this number of consecutive failures of any kind: at most 8 s without
 * an answer of the rate limit, so that the page works soon after a service that was away answers its first request with 503.
 */
export function retryDelayAfter(failures: number, { kind, retryAfter }: Problem): number {
  if (retryAfter !== undefined) return retryAfter * 1_000
  return kind === 'busy' ? Math.min(2_000 * 2 ** failures, 8_000) : 2_000
}

/** Whether there is a response in tRPC's format, but not with the fields of the service. A proxy may have sent it. */
function isUnreadable(error: unknown): boolean {
  if (!isServiceError(error)) return error instanceof Error && error.name === 'TRPCClientError'
  return !error.data && error.meta?.response instanceof Response
}

/** Also a response that ended the request as an error. See `clientWith`. */
function responseOf({ meta, cause }: ServiceError): Response | undefined {
  const response = meta?.response ?? cause?.cause
  return response instanceof Response ? response : undefined
}
