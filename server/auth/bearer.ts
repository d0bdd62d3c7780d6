import type { FastifyRequest } from 'fastify'
import type { ApiKey, Store } from '../../db/store.ts'
import { ApiError } from '../api/errors.ts'
import { RevisionCache } from '../api/revision-cache.ts'
import { hashApiKey, isApiKey } from './api-key.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The key that {@link bearerCheck} accepted. */
    apiKey: ApiKey | null
  }
}

const credentials = /^bearer +(\S+) *$/i
const touchInterval = 60_000
const maxCachedKeys = 1_000

/**
 * Returns the check that both adapters run before anything else: HTTP bearer authentication (RFC 6750) with an API key.
 * Keys are cached until one of them changes, so a revocation acts on the next request.
 *
 * @throws {ApiError} `unauthorized` if the key is missing, unknown, revoked or expired
 */
export function bearerCheck({ apiKeys }: Pick<Store, 'apiKeys'>): (request: FastifyRequest) => Promise<void> {
  const touchedAt = new Map<bigint, number>()
  const cache = new RevisionCache<ApiKey>(apiKeys, { capacity: maxCachedKeys })

  /** Records the use of a key, at most once a minute. The request does not wait for it, and does not fail if it fails. */
  function touch({ id, lastUsedAt }: ApiKey, now: Date, log: FastifyRequest['log']): void {
    // A time in the future comes from a wrong clock and is overwritten.
    const isRecent = (time = 0) => time <= now.getTime() && now.getTime() - time < touchInterval
    if (isRecent(touchedAt.get(id)) || isRecent(lastUsedAt?.getTime())) return
    touchedAt.set(id, now.getTime())
    apiKeys.touch(id, now).catch((err) => log.warn({ err }, 'could not record the use of an API key'))
  }

  function admit(request: FastifyRequest, apiKey: ApiKey | undefined): void {
    const now = new Date()
    if (!apiKey || !isValid(apiKey, now)) {
      throw unauthorized(
        'The API key is not valid: it is unknown, revoked or expired.',
        'Bearer realm="petstore", error="invalid_token"',
      )
    }
    request.apiKey = apiKey
    touch(apiKey, now, request.log)
  }

  return async function checkBearer(request) {
    const key = credentials.exec(request.headers.authorization ?? '')?.[1]
    if (key === undefined) {
      throw unauthorized('Send an API key in the header Authorization: Bearer <API key>.', 'Bearer realm="petstore"')
    }
    const hash = hashApiKey(key)
    admit(request, await cache.load(hash, async () => (isApiKey(key) ? apiKeys.find(hash) : undefined)))
  }
}

/** Fails closed: a comparison with an unreadable time is false. */
function isValid({ createdAt, expiresAt, revokedAt }: ApiKey, now: Date): boolean {
  return !Number.isNaN(createdAt.getTime()) && revokedAt === null && (expiresAt === null || expiresAt > now)
}

function unauthorized(message: string, challenge: string): ApiError {
  return new ApiError('unauthorized', message, { headers: { 'www-authenticate': challenge } })
}

/** The key that {@link bearerCheck} accepted. */
export function checkedApiKey({ apiKey }: FastifyRequest): ApiKey {
  if (!apiKey) throw new Error('The API key of this request was not checked.')
  return apiKey
}
