import type { ApiKey } from '#store'
import { ApiError, type Rejection } from '../api/errors.ts'

export const sendKey = 'Send an API key in the header Authorization: Bearer <API key>.'

/** @param parameters of the challenge `WWW-Authenticate: Bearer` (RFC 6750) */
export function unauthorized(message: string, parameters: string, rejection: Rejection): ApiError {
  const headers = { 'www-authenticate': `Bearer ${parameters}`.trimEnd() }
  return new ApiError('unauthorized', message, { headers, rejection })
}

/**
 * The guard of every procedure: returns the key that the check of the adapters has accepted. That is a hook, so that a
 * request without a key costs nothing but the check. Where the hook is missing, it throws `unauthorized`.
 */
export function requireApiKey({ apiKey }: { apiKey: ApiKey | null }): ApiKey {
  if (!apiKey) throw unauthorized(sendKey, '', { reason: 'missing' })
  return apiKey
}

export function requireWriteAccess({ apiKey }: { apiKey: ApiKey | null }): void {
  if (apiKey?.access !== 'write') throw new ApiError('forbidden', 'This API key may only read.')
}
