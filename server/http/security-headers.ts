/**
 * Security headers for every response (OWASP REST Security Cheat Sheet). Pages set a content security policy of their own.
 *
 * @param publicUrl where clients reach the service. Strict-Transport-Security is for TLS only (RFC 6797, section 7.2).
 */
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
