import type { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from './errors.ts'
import { hasClearFraming } from './framing.ts'
import { limits } from './http.ts'
import { securityHeaders } from './security-headers.ts'

/** What must be right in any request, whatever it asks for, before it is looked at further. */
export async function checkRequest(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  reply.headers(securityHeaders).header('x-request-id', request.id)
  if (request.url.length > limits.url)
    throw new ApiError('uri_too_long', `The URL is longer than ${limits.url} characters.`)
  if (expectsUnknown(request.raw)) throw new ApiError('expectation_failed', 'The only expectation met is 100-continue.')
  if (!hasValidHost(request.raw))
    throw new ApiError('invalid_request', 'Send exactly one Host header, with a host and an optional port.')
  // There is no URL without a host for tRPC to make.
  if (request.raw.headers.host === '') delete request.raw.headers.host
  if (!hasClearFraming(request.raw))
    throw new ApiError('invalid_request', 'The only Transfer-Encoding served is chunked, and that in HTTP/1.1.')
  if (request.url === '*' && request.method !== 'OPTIONS')
    throw new ApiError('invalid_request', 'Only OPTIONS can be asked of *.')
}

/** RFC 9110, section 10.1.1; HTTP/1.0 knows no expectations. */
function expectsUnknown({ headers: { expect }, httpVersion }: IncomingMessage): boolean {
  return expect !== undefined && httpVersion !== '1.0' && expect.toLowerCase() !== '100-continue'
}

// RFC 3986, section 3.2: a registered name or IPv4 address, or an address in brackets; then perhaps a port.
const hostAndPort = /^(?:[\w.~%!$&'()*+,;=-]*|\[[\da-fA-F:.]+\])(?::\d{0,5})?$/

/** Exactly one valid Host, which only HTTP/1.0 may leave out (RFC 9112, section 3.2). */
function hasValidHost({ headers: { host }, rawHeaders, httpVersion }: IncomingMessage): boolean {
  if (host === undefined) return httpVersion === '1.0'
  return isAuthority(host) && countHosts(rawHeaders) === 1
}

/** Empty is valid too. What is not must be part of a URL, since that is what tRPC makes of it. */
function isAuthority(host: string): boolean {
  return host === '' || (hostAndPort.test(host) && URL.canParse(`http://${host}`))
}

function countHosts(rawHeaders: string[]): number {
  let count = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]
    if (name?.length === 4 && name.toLowerCase() === 'host') count++
  }
  return count
}
