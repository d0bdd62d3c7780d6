import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, extname, join, sep } from 'node:path'
import { constants } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { compressOnce, encodingFor, entityTag, hasContent } from './cache/negotiation.ts'
import { labelRoutes } from './request.ts'
import { type Page, serveReads } from './routing.ts'

/** Bytes. Brotli's highest level takes two thirds of a second for this much, and saves 7 % over level 9. */
const maxSlowLength = 500_000

/** The Cache-Control of files whose name contains a hash of their content. */
const immutable = { 'cache-control': 'max-age=31536000, immutable' }
/** The Cache-Control of files that may change: browsers ask each time whether they have. */
export const revalidated = { 'cache-control': 'no-cache' }

/** Serves one file from memory. It is read for the first request, and again if that failed. `headers` has the content type. */
export function serveFile(
  app: FastifyInstance,
  url: string,
  read: () => Promise<Buffer>,
  headers: Record<string, string>,
  config?: RouteOptions['config'],
): void {
  serveReads(app, url, fileSender(read, headers), config)
}

/** Serves the files of one folder from memory. A route for each of them would take 50 ms of the start. */
function serveFolder(app: FastifyInstance, path: string, senders: Map<string, SendFile>): void {
  const names = [...senders.keys()].map((name) => RegExp.escape(name)).join('|')
  serveReads(app, `${path}/:name(${names})`, async (request, reply) => {
    // Safe: the route has this parameter.
    const { name } = request.params as { name: string }
    return senders.get(name)?.(request, reply)
  })
}

type SendFile = ReturnType<typeof fileSender>

/** All responses share one buffer for each encoding, which is compressed for the first request that accepts it. */
function fileSender(read: () => Promise<Buffer>, headers: Record<string, string>) {
  async function load() {
    const content = await read()
    const quality = content.length <= maxSlowLength ? 11 : 9
    const br = { params: { [constants.BROTLI_PARAM_QUALITY]: quality } }
    return { content, etag: entityTag(content), compress: compressOnce(content, { br, gzip: { level: 9 } }) }
  }
  // A promise, so that requests that arrive meanwhile do not read the file, too.
  let file: ReturnType<typeof load> | undefined

  return async function send(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    file ??= load().catch((error: unknown) => {
      file = undefined
      throw error
    })
    const { content, etag, compress } = await file
    const isUnchanged = hasContent(request.headers, etag)
    const hasBody = !isUnchanged && request.method !== 'HEAD'
    const encoding = encodingFor(request.headers)
    // Before the headers are set: if it fails, the error must not be cached, nor marked as compressed.
    const body = hasBody && encoding ? await compress(encoding) : content

    reply.headers({ ...headers, etag, vary: 'accept-encoding' })
    if (isUnchanged) return reply.code(304).removeHeader('content-type').send()
    if (encoding) reply.header('content-encoding', encoding)
    // HEAD has no Content-Length, which is not known before the content is compressed (RFC 9110, section 8.6).
    return reply.send(hasBody ? body : undefined)
  }
}

/** Allows only files of this service, and no scripts or styles inside the page. */
const pagePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'self'; " +
  "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"

const mediaTypes: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.md': 'text/markdown; charset=utf-8',
}

/** Reads the page of the console, if it is built, and makes its URLs relative to the path of the service, such as `/shop`. */
export function readConsolePage(folder: string | undefined, basePath: string): Page | undefined {
  const page = readPage(folder, 'index.html')
  if (page === undefined) return undefined
  const base = `<base href="${basePath.replaceAll('&', '&amp;')}/" />`
  const content = Buffer.from(page.replace(/<base href="\/" ?\/?>/, () => base))
  return { content, headers: { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': pagePolicy } }
}

/** Reads a page of the built console. Undefined if it is not built. */
export function readPage(folder: string | undefined, name: string): string | undefined {
  if (folder === undefined || !existsSync(join(folder, name))) return undefined
  return readFileSync(join(folder, name), 'utf8')
}

/**
 * Serves the web console at `/`, without an API key. Without a page, `/` redirects to the API reference. The files are
 * read once, at the start: a build beside a running service would otherwise mix two versions of the console.
 */
export async function webConsole(
  app: FastifyInstance,
  { folder, page, basePath }: { folder: string | undefined; page: Page | undefined; basePath: string },
): Promise<void> {
  labelRoutes(app, 'console')
  if (folder === undefined || !page) {
    serveReads(app, '/', async (_request, reply) => reply.redirect(`${basePath}/docs/`))
    return
  }
  serveFile(app, '/', async () => page.content, { ...page.headers, ...revalidated })
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => extname(name) in mediaTypes)
  for (const [path, names] of Map.groupBy(files, dirname)) {
    // Vite puts a hash of the content into the names of assets.
    const caching = path === 'assets' ? immutable : revalidated
    const senders = names.map((name): [string, SendFile] => {
      const content = readFileSync(join(folder, name))
      const headers = { 'content-type': String(mediaTypes[extname(name)]), ...caching }
      return [basename(name), fileSender(async () => content, headers)]
    })
    serveFolder(app, path === '.' ? '' : `/${path.replaceAll(sep, '/')}`, new Map(senders))
  }
}
