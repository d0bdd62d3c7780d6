import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { extname, join, sep } from 'node:path'
import { negotiate } from '@fastify/accept-negotiator'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { answerOtherMethods } from './routes.ts'

interface WebConsoleOptions {
  /** Where `web/build.ts` put it, if it did. */
  folder: string | undefined
}

/** Files of the service alone, and nothing that is written into the page itself: neither scripts nor styles. */
const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ')

const mediaTypes: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/**
 * The console at `/`, which needs no API key to be loaded. Where it was not built, the API reference stands in for it. The
 * files are kept as they were at the start, under a megabyte of them, so that a build beside a running service does not
 * mix two consoles.
 */
export async function webConsole(app: FastifyInstance, { folder }: WebConsoleOptions): Promise<void> {
  if (folder === undefined || !existsSync(join(folder, 'index.html'))) {
    app.get('/', async (_request, reply) => reply.redirect('/docs/'))
    answerOtherMethods(app, '/', ['GET', 'HEAD'])
    return
  }
  for (const path of globSync('**/*.{html,css,js,svg}', { cwd: folder })) {
    const file = readFile(folder, path)
    app.get(file.url, (request, reply) => send(file, request, reply))
    answerOtherMethods(app, file.url, ['GET', 'HEAD'])
  }
}

type Encoding = 'br' | 'gzip'

interface File {
  url: string
  headers: Record<string, string>
  content: Buffer
  /** The same, compressed. */
  encoded: Record<Encoding, Buffer>
}

function readFile(folder: string, path: string): File {
  const name = path.replaceAll(sep, '/')
  const content = readFileSync(join(folder, path))
  const isPage = name === 'index.html'
  return {
    url: isPage ? '/' : `/${name}`,
    headers: {
      'content-type': mediaTypes[extname(name)] ?? 'application/octet-stream',
      // The names of assets change with what is in them.
      'cache-control': name.startsWith('assets/') ? 'max-age=31536000, immutable' : 'no-cache',
      etag: `W/"${createHash('sha256').update(content).digest('base64url').slice(0, 27)}"`,
      vary: 'accept-encoding',
      ...(isPage && { 'content-security-policy': pagePolicy }),
    },
    content,
    encoded: { br: readFileSync(join(folder, `${path}.br`)), gzip: readFileSync(join(folder, `${path}.gz`)) },
  }
}

function send({ headers, content, encoded }: File, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.headers(headers)
  if (request.headers['if-none-match'] === headers.etag) return reply.code(304).send()
  const encoding = negotiate(request.headers['accept-encoding'] ?? '', ['br', 'gzip'])
  if (!encoding) return reply.send(content)
  return reply.header('content-encoding', encoding).send(encoded[encoding])
}
