import scalar from '@scalar/fastify-api-reference'
import type { FastifyInstance } from 'fastify'
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
