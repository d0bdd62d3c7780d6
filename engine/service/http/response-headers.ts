import type { FastifyInstance } from 'fastify'

/** The headers of every response (OWASP REST Security Cheat Sheet). Strict-Transport-Security needs TLS (RFC 6797, 7.2). */
export function securityHeaders(publicUrl: string | undefined): Record<string, string> {
  const isTls = publicUrl !== undefined && new URL(publicUrl).protocol === 'https:'
  return {
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    ...(isTls && { 'strict-transport-security': 'max-age=31536000' }),
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
  }
}

// Each list ends with *: a page can read the error for a method that is not served only if its preflight succeeds, and a
// client may send headers of its own. Browsers exclude Authorization from *, and old ones do not know *.
const preflightHeaders = {
  'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE, *',
  // W3C Trace Context and Baggage, and at the end what tRPC's links, its templates and clients of server-sent events send.
  'access-control-allow-headers':
    'authorization, content-type, idempotency-key, if-none-match, x-request-id, traceparent, tracestate, baggage, ' +
    'trpc-accept, x-trpc-source, last-event-id, *',
  'access-control-max-age': '600',
}

/** Besides the headers that pages can always read (https://fetch.spec.whatwg.org/#cors-safelisted-response-header-name). */
const exposedHeaders =
  'allow, date, deprecation, etag, idempotency-replayed, link, location, ratelimit, ratelimit-policy, retry-after, ' +
  'sunset, traceresponse, www-authenticate, x-request-id'

/**
 * CORS (https://fetch.spec.whatwg.org/#http-cors-protocol). No cookies, because the API key is sent in a header. Call it
 * before any check is added: a page can read an error response only if the preflight of its request succeeded.
 */
export function addCors(app: FastifyInstance, origins: string[], responseHeaders: Record<string, string>): void {
  const allowed = new Set(origins)
  app.addHook('onRequest', ({ method, headers, id }, reply, done) => {
    // Set on Node's response, since some errors, such as a malformed body, are sent without Fastify's reply.
    const { raw } = reply
    raw.setHeader('vary', 'Origin')
    const { origin } = headers
    if (origin === undefined || !allowed.has(origin)) return done()
    raw.setHeader('access-control-allow-origin', origin)
    raw.setHeader('access-control-expose-headers', exposedHeaders)
    if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined) return done()
    reply.headers({ ...responseHeaders, ...preflightHeaders, 'x-request-id': id })
    reply.code(204).send()
  })
  app.addHook('onSend', (_request, reply, payload, done) => {
    const vary = reply.getHeader('vary')
    if (vary !== undefined && vary !== 'Origin') reply.header('vary', `${vary}, Origin`)
    done(null, payload)
  })
}

/** The headers for errors of the HTTP parser, which does not report the Origin. Their bodies contain no data of a caller. */
export function corsOfUnreadable(origins: string[]): Record<string, string> {
  return origins.length === 0
    ? {}
    : { 'access-control-allow-origin': '*', 'access-control-expose-headers': exposedHeaders, vary: 'Origin' }
}
