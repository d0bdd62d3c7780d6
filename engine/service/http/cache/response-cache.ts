import { constants } from 'node:zlib'
import type { FastifyRequest } from 'fastify'
import type { BaseStore } from '#store'
import { type Compress, compressOnce, encodingFor, entityTag, hasContent } from './negotiation.ts'
import { type CacheLookups, revisionCache } from './revision-cache.ts'

export interface CacheableResponse {
  status: number
  headers: Record<string, string>
  body: string
}

/** A response that may be sent in several ways, depending on the request. */
type NegotiableResponse = CacheableResponse & { compress?: Compress }

/** The body is compressed if the client accepts it, and absent if the client has it already. */
type NegotiatedResponse = Omit<CacheableResponse, 'body'> & { body?: string | Buffer }

/** Characters of URLs and bodies, 4 MB at most, and twice that for compressed bodies that hardly shrink. */
const capacity = 2_000_000
/** URLs that are remembered because they were requested once, which are 4 MB at most. */
const maxRequested = 500
/**
 * Characters from which a body is compressed. A shorter one that was just read from the store would take more time to
 * compress than to transfer, and a shorter cached one fits into a packet with its headers.
 */
const minLength = { read: 4_096, cached: 1_024 }
/** Higher levels take more time than their bytes save. A larger window takes more memory. */
const compression = {
  br: { params: { [constants.BROTLI_PARAM_QUALITY]: 3, [constants.BROTLI_PARAM_LGWIN]: 16 } },
  gzip: { level: 6 },
}
/** Browsers store the response, and ask each time whether it is current. Shared caches would not check the API key. */
const revalidated = { 'cache-control': 'private, no-cache' }

/** Returns the response to the URL, cached or made by `respond`: compressed if accepted, or 304 if the client has it. */
export type ResponseCache = (
  request: Pick<FastifyRequest, 'url' | 'headers'>,
  respond: () => Promise<CacheableResponse>,
) => Promise<NegotiatedResponse>

/**
 * Caches successful responses by URL until the store changes, from the second request for a URL on. Keeping pages that are
 * requested once would cost more than it saves, because the garbage collector has to move and free them.
 */
export function responseCache(store: BaseStore, lookups: CacheLookups): ResponseCache {
  const cache = revisionCache<NegotiableResponse>(store, {
    capacity,
    weightOf: (url, { body }) => url.length + body.length,
    lookups,
  })
  const requested = new Set<string>()

  function isRepeated(url: string): boolean {
    if (requested.has(url)) return true
    if (requested.size >= maxRequested) requested.clear()
    requested.add(url)
    return false
  }

  return async ({ url, headers }, respond) => {
    let origin: keyof typeof minLength = 'cached'
    async function read(): Promise<NegotiableResponse> {
      origin = 'read'
      const response = await respond()
      const { status, body } = response
      if (status !== 200) return response
      // The tag depends only on the body, so it holds for every instance, restart and restored backup; weak, for every encoding.
      const headers = { ...response.headers, ...revalidated, vary: 'accept-encoding', etag: entityTag(body) }
      return { status, headers, body, compress: compressOnce(body, compression) }
    }
    const response = await cache.load(url, read, ({ status }) => status === 200 && isRepeated(url))
    const { etag } = response.headers
    if (etag !== undefined && hasContent(headers, etag)) {
      // Keeps headers that depend on more than the body, such as `Link` (RFC 9110, section 15.4.5).
      const { 'content-type': _, ...others } = response.headers
      return { status: 304, headers: others }
    }
    const { status, body, compress } = response
    const encoding = compress && body.length >= minLength[origin] ? encodingFor(headers) : undefined
    if (!compress || !encoding) return response
    return { status, headers: { ...response.headers, 'content-encoding': encoding }, body: await compress(encoding) }
  }
}
