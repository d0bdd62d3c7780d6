import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { extname, join, sep } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { negotiate } from '@fastify/accept-negotiator'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { labelRoutes } from './request-labels.ts'
import { handleOtherMethods, type Page } from './routing.ts'

type Encoding = 'br' | 'gzip'

/** Bytes. Brotli's level 10 takes half a second for this much, and saves 6 %. */
const maxSlowLength = 1_000_000

// These run in the thread pool.
const compress: Record<Encoding, (content: Buffer) => Promise<Buffer>> = {
  br(content) {
    const quality = content.length <= maxSlowLength ? 10 : 9
    return promisify(brotliCompress)(content, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } })
  },
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
    const isUnchanged = matchesHash(request.headers['if-none-match'], hash)
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

/** Compares weakly, as RFC 9110 requires for If-None-Match (section 13.1.2). */
function matchesHash(ifNoneMatch: string | undefined, hash: string): boolean {
  return ifNoneMatch !== undefined && (ifNoneMatch === '*' || ifNoneMatch.includes(`"${hash}"`))
}

/** Allows only files of this service, and no scripts or styles inside the page. */
const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ')

export function mediaTypeOf(path: string): string {
  return mediaTypes[extname(path)] ?? 'application/octet-stream'
}

const mediaTypes: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.md': 'text/markdown; charset=utf-8',
}

/**
 * Reads the page of the web console, and makes its URLs relative to the path of the service. Returns undefined if the
 * console is not built.
 *
 * @param folder where `web/build.ts` writes the console
 * @param basePath the path of the service: empty, or such as `/petstore`
 */
export function readConsolePage(folder: string | undefined, basePath: string): Page | undefined {
  if (folder === undefined) return undefined
  const path = join(folder, 'index.html')
  if (!existsSync(path)) return undefined
  const base = `<base href="${basePath.replaceAll('&', '&amp;')}/"`
  return {
    content: Buffer.from(readFileSync(path, 'utf8').replace('<base href="/"', () => base)),
    headers: { 'content-type': mediaTypeOf(path), 'content-security-policy': pagePolicy },
  }
}

interface ConsoleOptions {
  folder: string | undefined
  page: Page | undefined
  basePath: string
}

/**
 * Serves the web console at `/`, without an API key. Without a page, `/` redirects to the API reference. The files are
 * read once, at the start: a build beside a running service would otherwise mix two versions of the console.
 */
export async function webConsole(app: FastifyInstance, { folder, page, basePath }: ConsoleOptions): Promise<void> {
  labelRoutes(app, 'console')
  if (folder === undefined || !page) {
    app.get('/', async (_request, reply) => reply.redirect(`${basePath}/docs/`))
    handleOtherMethods(app, '/', ['GET', 'HEAD'])
    return
  }
  const revalidated = { 'cache-control': 'no-cache' }
  serveFile(app, '/', page.content, { ...page.headers, ...revalidated })
  for (const path of globSync('**/*.{css,js,svg,md}', { cwd: folder })) {
    const name = path.replaceAll(sep, '/')
    serveFile(app, `/${name}`, readFileSync(join(folder, path)), {
      'content-type': mediaTypeOf(name),
      // Vite puts a hash of the content into the names of assets.
      ...(name.startsWith('assets/') ? immutable : revalidated),
    })
  }
}
