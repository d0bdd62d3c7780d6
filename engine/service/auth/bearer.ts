import type { FastifyInstance, FastifyRequest, onRequestHookHandler } from 'fastify'
import type { ApiKey, ApiKeyStore } from '#store'
import type { ApiError, RejectionReason } from '../api/errors.ts'
import { type CacheLookups, revisionCache } from '../http/cache/revision-cache.ts'
import { countFields } from '../http/request-checks.ts'
import { sendKey, unauthorized } from '../procedures/access.ts'
import type { Product } from '../product.ts'
import { apiKeyFormat, hashApiKey, rejectionOf } from './api-key.ts'

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
 * Returns the check of the API key (RFC 6750). Keys are cached until the revision of the store's keys changes, so on SQLite a
 * revocation acts on the next request. With a cached key, the check completes synchronously. It completes with `unauthorized`
 * if the key is missing, unknown, revoked or expired.
 */
export function bearerCheck(
  app: FastifyInstance,
  { apiKeys }: { apiKeys: ApiKeyStore },
  { keyPrefix, command: realm }: Pick<Product, 'keyPrefix' | 'command'>,
  lookups: CacheLookups,
): onRequestHookHandler {
  app.decorateRequest('apiKey', null)
  const { isApiKey, startOfUnknown } = apiKeyFormat(keyPrefix)
  const noKey = (reason: RejectionReason) => unauthorized(sendKey, `realm="${realm}"`, { reason })
  function invalidKey(reason: RejectionReason, keyStart: string | undefined): ApiError {
    const message = 'The API key is not valid: it is unknown, revoked or expired.'
    return unauthorized(message, `realm="${realm}", error="invalid_token"`, { reason, keyStart })
  }

  /** When the use of a key was recorded last, by the hash of the key. */
  const touchedAt = new Map<string, number>()
  /** The keys by the usual spelling of the header, which is found faster than a hash is computed. */
  const cache = revisionCache<ApiKey>(apiKeys, { capacity: maxCachedKeys, lookups })

  /** Records the use of a key, at most once a minute. The request does not wait for it, and does not fail if it fails. */
  function touch(apiKey: ApiKey, now: number, log: FastifyRequest['log']): void {
    const { hash, lastUsedAt } = apiKey
    // A time in the future comes from a wrong clock and is overwritten.
    const isRecent = (time = 0) => time <= now && now - time < touchInterval
    if (isRecent(lastUsedAt?.getTime()) || isRecent(touchedAt.get(hash))) return
    touchedAt.set(hash, now)
    apiKeys.touch(apiKey, new Date(now)).catch((err: Error) => {
      log.warn({ err }, `The use of an API key could not be recorded. ${err.message}`)
    })
  }

  function admit(request: FastifyRequest, apiKey: ApiKey): ApiError | undefined {
    const now = Date.now()
    const reason = rejectionOf(apiKey, now)
    if (reason) return invalidKey(reason, apiKey.start)
    request.apiKey = apiKey
    touch(apiKey, now, request.log)
    return undefined
  }

  let [sharedKey, shared] = ['', Promise.resolve<ApiKey | undefined>(undefined)]
  /** Requests that start together after a commit share a read of their key. */
  function find(key: string): Promise<ApiKey | undefined> {
    if (key === sharedKey) return shared
    sharedKey = key
    shared = isApiKey(key) ? apiKeys.find(hashApiKey(key)) : Promise.resolve(undefined)
    queueMicrotask(() => (sharedKey = ''))
    return shared
  }

  return function checkBearer(request, _reply, done) {
    const { authorization = '' } = request.headers
    // Node uses the first header, but a proxy may have checked the second one.
    if (countFields(request.raw.rawHeaders, 'authorization') > 1) return done(noKey('malformed'))
    const known = cache.get(authorization)
    if (known) return done(admit(request, known))
    const key = credentials.exec(authorization)?.[1]
    if (key === undefined) return done(noKey(authorization === '' ? 'missing' : 'malformed'))
    const unknown = () => invalidKey(isApiKey(key) ? 'unknown' : 'malformed', startOfUnknown(key))
    cache
      .load(`Bearer ${key}`, () => find(key))
      .then((found) => (found ? admit(request, found) : unknown()))
      .then(done, done)
  }
}
