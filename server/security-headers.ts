/**
 * What every answer tells a browser: run, frame, guess, cache and refer nothing. After the OWASP REST Security Cheat Sheet;
 * what is a page sets its own policy.
 */
export const securityHeaders = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'strict-transport-security': 'max-age=31536000',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}
