import type { AnyRouter } from '@trpc/server'
import type { FastifyInstance } from 'fastify'
import type { oas31 } from 'zod-openapi'
import type { Config } from '../config.ts'
import { labelRoutes } from '../http/request.ts'
import { serveReads } from '../http/routing.ts'
import { revalidated, serveFile } from '../http/static-files.ts'
import type { Product } from '../product.ts'

interface ReferenceOptions {
  router: AnyRouter
  product: Product
  /** The servers in the document. Called when the service listens. */
  servers: () => oas31.ServerObject[]
  basePath: string
  /** The page of the built console. Without it, `/docs/` redirects to the document. */
  page: string | undefined
}

/** The OpenAPI document at `/openapi.json` and an interactive reference at `/docs/`. Neither needs an API key. */
export async function reference(
  app: FastifyInstance,
  { router, product, servers, basePath, page }: ReferenceOptions,
): Promise<void> {
  labelRoutes(app, 'reference')
  const makeDocument = async () => {
    // Loaded with the first request for the document, because its packages would take a tenth of the start.
    const { createDocument } = await import('./document.ts')
    return Buffer.from(JSON.stringify(createDocument(router, product, servers())))
  }
  const headers = { 'content-type': 'application/json; charset=utf-8', ...revalidated }
  serveFile(app, '/openapi.json', makeDocument, headers, { labels: { adapter: 'http', operation: 'document' } })

  serveReads(app, '/docs', async (_request, reply) => reply.redirect(`${basePath}/docs/`, 301))
  serveReads(app, '/docs/', async (_request, reply) =>
    page === undefined
      ? reply.redirect(`${basePath}/openapi.json`)
      : reply.type('text/html; charset=utf-8').header('content-security-policy', referencePolicy(servers())).send(page),
  )
}

/** Allows no inline scripts, and requests only to the servers in the document. Scalar adds style elements to the page. */
function referencePolicy(servers: oas31.ServerObject[]): string {
  const origins = servers.filter(({ url }) => URL.canParse(url)).map(({ url }) => new URL(url).origin)
  return (
    `default-src 'none'; connect-src 'self' ${origins.join(' ')}; script-src 'self'; style-src 'self' 'unsafe-inline'; ` +
    "img-src 'self' data:; font-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
  )
}

/** The servers in the OpenAPI document. Without an address, its own origin counts. */
export function serversOf(
  { publicUrl, stagingUrl }: Pick<Config, 'publicUrl' | 'stagingUrl'>,
  address: string,
): oas31.ServerObject[] {
  const isLoopback = (url: string) => /^(?:localhost|127\.[\d.]+|\[::1\])$/.test(new URL(url).hostname)
  const isProduction = publicUrl !== undefined && !isLoopback(publicUrl)
  return [
    { url: `${address}/v1`, description: isProduction ? 'Production' : 'This server' },
    ...(stagingUrl ? [{ url: `${stagingUrl}/v1`, description: 'Staging' }] : []),
  ]
}
