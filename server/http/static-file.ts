import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { negotiate } from '@fastify/accept-negotiator'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { handleOtherMethods } from './methods.ts'

type Encoding = 'br' | 'gzip'

// These run in the thread pool. Brotli's levels 10 and 11 take 20 times as long to save another tenth.
const compress: Record<Encoding, (content: Buffer) => Promise<Buffer>> = {
  br: (content) => promisify(brotliCompress)(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  gzip: (content) => promisify(gzip)(content, { level: 9 }),
}

/** For files whose name contains a hash of their content. */
export const immutable = { 'cache-control': 'max-age=31536000, immutable' }

export function contentHash(content: Buffer): string {
  return createHash('sha256').update(content).digest('base64url').slice(0, 27)
}

/**
 * Serves one file from memory. All responses share one buffer for each encoding, which is compressed for the first
 * request that accepts it. `headers` must include the content type.
 */
export function serveFile(app: FastifyInstance, url: string, content: Buffer, headers: Record<string, string>): void {
  const hash = contentHash(content)
  const compressed = new Map<Encoding, Promise<Buffer>>()

  async function send(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const isUnchanged = isKnown(request.headers['if-none-match'], hash)
    const hasBody = !isUnchanged && request.method !== 'HEAD'
    const encoding = negotiate(request.headers['accept-encoding'] ?? '', ['br', 'gzip'])
    // Before the headers are set: if it fails, the error must not be cached, nor marked as compressed.
    const body = hasBody && encoding ? await compressedOnce(encoding) : content

    reply.headers({ ...headers, etag: `W/"${hash}"`, vary: 'accept-encoding' })
    if (isUnchanged) return reply.code(304).send()
    if (encoding) reply.header('content-encoding', encoding)
    // HEAD has no Content-Length, which is not known before the content is compressed (RFC 9110, section 8.6).
    return reply.send(hasBody ? body : undefined)
  }

  function compressedOnce(encoding: Encoding): Promise<Buffer> {
    const known = compressed.get(encoding)
    if (known !== undefined) return known
    const result = compress[encoding](content)
    compressed.set(encoding, result)
    result.catch(() => compressed.delete(encoding))
    return result
  }

  app.route({ method: ['GET', 'HEAD'], url, handler: send })
  handleOtherMethods(app, url, ['GET', 'HEAD'])
}

/** Compares weakly, as RFC 9110 asks for If-None-Match (section 13.1.2). */
function isKnown(ifNoneMatch: string | undefined, hash: string): boolean {
  return ifNoneMatch !== undefined && (ifNoneMatch === '*' || ifNoneMatch.includes(`"${hash}"`))
}
