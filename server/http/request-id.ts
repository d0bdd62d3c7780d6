import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

/** Safe in headers and logs. An API key that a client sends in the wrong header must not reach the log. */
const valid = /^(?!.*pet_)[\w.~+/=:-]{1,128}$/

/**
 * The id of a request, in its log lines and in the `X-Request-Id` of its response: the `X-Request-Id` of the request if it
 * has 1 to 128 characters of `A-Z a-z 0-9 . _ ~ + / = : -`, otherwise a new UUID. Further calls return the same id.
 */
export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  // Node joins repeated headers with a comma and a space, which are not valid.
  const given = headers['x-request-id']
  if (typeof given === 'string' && valid.test(given)) return given
  const id = randomUUID()
  headers['x-request-id'] = id
  return id
}
