import { createHash } from 'node:crypto'
import { type FastifyInstance, type FastifyReply, fastify } from 'fastify'
import type { oas31 } from 'zod-openapi'
import { answerOtherMethods } from '../routes.ts'

interface ReferenceOptions {
  /** Makes the OpenAPI document; called once, with the first request for it. */
  document: () => unknown
  /** Those that the document names, and the page may therefore call. */
  servers: () => oas31.ServerObject[]
}

/** The OpenAPI document at `/openapi.json` and an interactive reference at `/docs`. Neither needs an API key. */
export async function reference(app: FastifyInstance, { document, servers }: ReferenceOptions): Promise<void> {
  let json: string | undefined
  app.get('/openapi.json', async (_request, reply) => {
    json ??= JSON.stringify(document())
    return reply.type('application/json; charset=utf-8').send(json)
  })
  answerOtherMethods(app, '/openapi.json', ['GET', 'HEAD'])

  let page: Promise<FastifyInstance> | undefined
  app.get('/docs', async (_request, reply) => reply.redirect('/docs/', 301))
  for (const url of ['/docs/', '/docs/js/scalar.js']) {
    app.get(url, async (_request, reply) => {
      page ??= createPage().catch((error) => {
        page = undefined
        throw error
      })
      const { statusCode, headers, rawPayload } = await (await page).inject(url)
      if (statusCode !== 200) throw new Error(`The reference answers ${url} with ${statusCode}.`)
      reply.header('content-type', headers['content-type'])
      allowReference(reply, rawPayload, servers())
      return rawPayload
    })
    answerOtherMethods(app, url, ['GET', 'HEAD'])
  }
}

/** Made when somebody first looks at it: its script alone takes 40 MB of memory. */
async function createPage(): Promise<FastifyInstance> {
  const { default: scalar } = await import('@scalar/fastify-api-reference')
  const page = fastify()
  await page.register(scalar, {
    routePrefix: '/docs',
    configuration: {
      url: '/openapi.json',
      pageTitle: 'Petstore API reference',
      // Nothing on the page is fetched from or sent to anywhere but the servers that the document names.
      withDefaultFonts: false,
      telemetry: false,
      proxyUrl: '',
      hideClientButton: true,
      showDeveloperTools: 'never',
      authentication: { preferredSecurityScheme: 'apiKey' },
      mcp: { disabled: true },
      agent: { disabled: true },
    },
  })
  return page
}

/** The page's own policy: its one inline script by its hash, and nothing from elsewhere. Its large script may be kept. */
function allowReference(reply: FastifyReply, payload: unknown, servers: oas31.ServerObject[]): void {
  const type = String(reply.getHeader('content-type'))
  if (type.startsWith('application/javascript')) reply.header('cache-control', 'max-age=3600')
  if (type.startsWith('text/html')) reply.header('content-security-policy', pagePolicy(String(payload), servers))
}

function pagePolicy(html: string, servers: oas31.ServerObject[]): string {
  const scripts = [...html.matchAll(/<script type="text\/javascript">([^<]*)<\/script>/g)].map(([, text = '']) => text)
  const hashes = scripts.map((text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`)
  const origins = servers.map(({ url }) => new URL(url).origin)
  return [
    "default-src 'self'",
    // The requests that the page can try.
    `connect-src 'self' ${origins.join(' ')}`,
    `script-src 'self' ${hashes.join(' ')}`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    "frame-ancestors 'none'",
  ].join('; ')
}
