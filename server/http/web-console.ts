import { existsSync, globSync, readFileSync } from 'node:fs'
import { extname, join, sep } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { handleOtherMethods } from './methods.ts'
import { immutable, serveFile } from './static-file.ts'

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
 * The console at `/`, which needs no API key to be loaded. Without a build, `/` redirects to the API reference. The files
 * are read once, at the start: a build beside a running service would otherwise mix two consoles.
 */
export async function webConsole(app: FastifyInstance, { folder }: WebConsoleOptions): Promise<void> {
  if (folder === undefined || !existsSync(join(folder, 'index.html'))) {
    app.get('/', async (_request, reply) => reply.redirect('/docs/'))
    handleOtherMethods(app, '/', ['GET', 'HEAD'])
    return
  }
  for (const path of globSync('**/*.{html,css,js,svg}', { cwd: folder })) {
    const name = path.replaceAll(sep, '/')
    const isPage = name === 'index.html'
    serveFile(app, isPage ? '/' : `/${name}`, readFileSync(join(folder, path)), {
      'content-type': mediaTypes[extname(name)] ?? 'application/octet-stream',
      // Vite puts a hash of the content into the names of assets.
      ...(name.startsWith('assets/') ? immutable : { 'cache-control': 'no-cache' }),
      ...(isPage && { 'content-security-policy': pagePolicy }),
    })
  }
}
