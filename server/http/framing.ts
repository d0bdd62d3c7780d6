import type { IncomingMessage } from 'node:http'

/**
 * Whether it is beyond doubt where the body ends, which a proxy in front must see in the same way, or a request could be
 * smuggled past it: no transfer coding but chunked, once, and none at all in HTTP/1.0 (RFC 9112, section 6.1).
 * Node's parser itself refuses what contradicts itself.
 */
export function hasClearFraming({ headers, httpVersion }: IncomingMessage): boolean {
  const coding = headers['transfer-encoding']
  return coding === undefined || (coding.toLowerCase() === 'chunked' && httpVersion !== '1.0')
}
