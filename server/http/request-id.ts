import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

/** Safe in headers and logs. */
const valid = /^[\w.~+/=:-]{1,128}$/

/**
 * The id of a request, in its log lines and in the `X-Request-Id` of its response: the `X-Request-Id` of the request if it
 * has 1 to 128 characters of `A-Z a-z 0-9 . _ ~ + / = : -` and cannot contain a secret, otherwise a new UUID. Further calls
 * return the same id.
 */
export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  // Node joins repeated headers with a comma and a space, which are not valid.
  const given = headers['x-request-id']
  if (typeof given === 'string' && valid.test(given) && !mayContainSecret(given)) return given
  const id = randomUUID()
  headers['x-request-id'] = id
  return id
}

/**
 * Whether a client may have sent an API key or another token in the wrong header: a prefix, or letters of both cases in a row
 * as long as the random part of an API key. Common ids (UUIDs, hashes, W3C trace ids) have one case.
 */
function mayContainSecret(id: string): boolean {
  const runs = id.split(/[^0-9A-Za-z]/)
  return /pet_|bearer/i.test(id) || runs.some((run) => run.length >= 32 && /[a-z]/.test(run) && /[A-Z]/.test(run))
}
