import { existsSync, globSync } from 'node:fs'
import { sep } from 'node:path'
import staticFiles from '@fastify/static'
import type { FastifyInstance, FastifyReply } from 'fastify'
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

/** The console at `/`, which needs no API key to be loaded. Where it was not built, the API reference stands in for it. */
export async function webConsole(app: FastifyInstance, { folder }: WebConsoleOptions): Promise<void> {
  if (folder === undefined || !existsSync(folder)) {
    app.get('/', async (_request, reply) => reply.redirect('/docs/'))
    answerOtherMethods(app, '/', ['GET', 'HEAD'])
    return
  }
  await app.register(staticFiles, { root: folder, serve: false, preCompressed: true, cacheControl: false, setHeaders })
  for (const path of globSync('**/*.{html,js,css,svg}', { cwd: folder })) {
    const file = path.replaceAll(sep, '/')
    const url = file === 'index.html' ? '/' : `/${file}`
    app.get(url, (_request, reply) => reply.sendFile(file))
    answerOtherMethods(app, url, ['GET', 'HEAD'])
  }
}

/** The names of assets change with what is in them. */
function setHeaders(reply: FastifyReply, path: string): void {
  reply.header('cache-control', path.includes(`${sep}assets${sep}`) ? 'max-age=31536000, immutable' : 'no-cache')
  if (path.includes('index.html')) reply.header('content-security-policy', pagePolicy)
}
