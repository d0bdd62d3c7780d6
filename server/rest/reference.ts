import { createHash } from 'node:crypto'
import scalar from '@scalar/fastify-api-reference'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { answerOtherMethods } from '../routes.ts'

interface ReferenceOptions {
  /** Makes the OpenAPI document; called once, with the first request for it. */
  document: () => unknown
}

/** The OpenAPI document at `/openapi.json` and an interactive reference at `/docs`. Neither needs an API key. */
export async function reference(app: FastifyInstance, { document }: ReferenceOptions): Promise<void> {
  let json: string | undefined
  app.get('/openapi.json', async (_request, reply) => {
    json ??= JSON.stringify(document())
    return reply.type('application/json; charset=utf-8').send(json)
  })
  answerOtherMethods(app, '/openapi.json', ['GET', 'HEAD'])

  app.get('/', async (_request, reply) => reply.redirect('/docs/'))
  answerOtherMethods(app, '/', ['GET', 'HEAD'])

  app.addHook('onSend', allowReference)
  await app.register(scalar, {
    routePrefix: '/docs',
    configuration: {
      url: '/openapi.json',
      pageTitle: 'Petstore API reference',
      // Nothing on the page is fetched from or sent to anywhere else.
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
  answerOtherMethods(app, '/docs/', ['GET', 'HEAD'])
}

/** The page's own policy: its one inline script by its hash, and nothing from elsewhere. Its large script may be kept. */
async function allowReference(_request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<void> {
  const type = String(reply.getHeader('content-type'))
  if (type.startsWith('application/javascript')) reply.header('cache-control', 'max-age=3600')
  if (type.startsWith('text/html')) reply.header('content-security-policy', pagePolicy(String(payload)))
}

function pagePolicy(html: string): string {
  const scripts = [...html.matchAll(/<script type="text\/javascript">([^<]*)<\/script>/g)].map(([, text = '']) => text)
  const hashes = scripts.map((text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`)
  return [
    "default-src 'self'",
    `script-src 'self' ${hashes.join(' ')}`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    "frame-ancestors 'none'",
  ].join('; ')
}
