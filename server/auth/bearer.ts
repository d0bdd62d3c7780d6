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
const mostKnown = 1_000

/**
 * Makes the check both doors run before anything else: HTTP bearer authentication (RFC 6750) with an API key. A key is
 * remembered only until the store changes, so that a revocation acts on the next request.
 */
export function bearerCheck(store: Store): (request: FastifyRequest) => Promise<void> {
  const touchedAt = new Map<bigint, number>()
  const known = new RevisionCache<ApiKey>(store, { capacity: mostKnown })

  /** Notes the use of a key, at most once a minute. Nobody waits for it, and a request does not fail with it. */
  function touch({ id, lastUsedAt }: ApiKey, now: Date, log: FastifyRequest['log']): void {
    // A time in the future comes from a clock that was wrong, and is replaced.
    const isRecent = (time = 0) => time <= now.getTime() && now.getTime() - time < touchInterval
    if (isRecent(touchedAt.get(id)) || isRecent(lastUsedAt?.getTime())) return
    touchedAt.set(id, now.getTime())
    store.apiKeys.touch(id, now).catch((err) => log.warn({ err }, 'could not note the use of an API key'))
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
    const find = async () => (isApiKey(key) ? store.apiKeys.find(hash) : undefined)
    // Most requests need not wait.
    admit(request, known.get(hash) ?? (await known.load(hash, find)))
  }
}

/** Fails closed: a comparison with a time that cannot be read is false. */
function isValid({ createdAt, expiresAt, revokedAt }: ApiKey, now: Date): boolean {
  return !Number.isNaN(createdAt.getTime()) && revokedAt === null && (expiresAt === null || expiresAt > now)
}

function unauthorized(message: string, challenge: string): ApiError {
  return new ApiError('unauthorized', message, { headers: { 'www-authenticate': challenge } })
}

/** The key that was checked for this request. */
export function checkedApiKey({ apiKey }: FastifyRequest): ApiKey {
  if (!apiKey) throw new Error('A procedure was reached without a check of the API key.')
  return apiKey
}
