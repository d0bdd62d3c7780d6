import type { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import { ApiError } from '../api/errors.ts'
import { hasClearFraming } from './framing.ts'
import { limits } from './server.ts'

/** A hook that checks what every request must satisfy, and sets the headers of every response. */
export function requestCheck(headers: Record<string, string>) {
  return (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void => {
    reply.headers(headers).header('x-request-id', request.id)
    const fault = findFault(request)
    // tRPC cannot build a URL from an empty host.
    if (request.raw.headers.host === '') delete request.raw.headers.host
    done(fault)
  }
}

function findFault({ raw, url, method }: FastifyRequest): ApiError | undefined {
  if (url.length > limits.url) return new ApiError('uri_too_long', `The URL is longer than ${limits.url} characters.`)
  if (expectsUnknown(raw)) return new ApiError('expectation_failed', 'The only expectation met is 100-continue.')
  if (!hasValidHost(raw))
    return new ApiError('invalid_request', 'Send exactly one Host header, with a host and an optional port.')
  if (!hasClearFraming(raw))
    return new ApiError('invalid_request', 'The only Transfer-Encoding served is chunked, and that in HTTP/1.1.')
  if (url === '*' && method !== 'OPTIONS') return new ApiError('invalid_request', 'Only OPTIONS can be asked of *.')
  return undefined
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
