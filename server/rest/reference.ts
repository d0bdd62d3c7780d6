import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { FastifyInstance } from 'fastify'
import type { oas31 } from 'zod-openapi'
import { labelRoutes, type RequestLabels } from '../http/request-labels.ts'
import { handleOtherMethods } from '../http/routing.ts'
import { contentHash, immutable, serveFile } from '../http/static-files.ts'

interface ReferenceOptions {
  /** Creates the OpenAPI document. Called once, for the first request. */
  document: () => unknown
  /** The servers in the document, which the page may call. */
  servers: () => oas31.ServerObject[]
}

const documentLabels: RequestLabels = { adapter: 'http', operation: 'document' }

let script: { name: string; content: Buffer } | undefined

/** The OpenAPI document at `/openapi.json` and an interactive reference at `/docs`. Neither needs an API key. */
export async function reference(app: FastifyInstance, { document, servers }: ReferenceOptions): Promise<void> {
  labelRoutes(app, 'reference')
  let json: string | undefined
  app.get('/openapi.json', { config: { labels: documentLabels } }, async (_request, reply) => {
    json ??= JSON.stringify(document())
    return reply.type('application/json; charset=utf-8').send(json)
  })
  handleOtherMethods(app, '/openapi.json', ['GET', 'HEAD'])

  script ??= readScript()
  const page = pageWith(script.name)
  app.get('/docs', async (_request, reply) => reply.redirect('/docs/', 301))
  handleOtherMethods(app, '/docs', ['GET', 'HEAD'])
  app.get('/docs/', async (_request, reply) =>
    reply.type('text/html; charset=utf-8').header('content-security-policy', pagePolicy(servers())).send(page),
  )
  handleOtherMethods(app, '/docs/', ['GET', 'HEAD'])
  serveFile(app, `/docs/${script.name}`, script.content, {
    'content-type': 'text/javascript; charset=utf-8',
    ...immutable,
  })
}

/**
 * Scalar's script for browsers (MIT license). The package contains it only as a string literal in its module. Importing
 * that module would take half a second and 40 MB.
 */
function readScript(): { name: string; content: Buffer } {
  const module = readFileSync(fileURLToPath(import.meta.resolve('@scalar/fastify-api-reference')))
  const prefix = 'var standalone_default = "'
  const start = module.indexOf(prefix)
  if (start === -1)
    throw new Error('@scalar/fastify-api-reference no longer contains its script as expected: update readScript().')
  // In Latin-1 each byte is one character, so decoding takes a tenth of the time.
  const literal = module.toString('latin1', start + prefix.length, module.indexOf('";\n', start))
  const content = Buffer.from(literal.replaceAll(/\\./g, characterOf), 'latin1')
  return { name: `scalar-${contentHash(content)}.js`, content }
}

const escapeSequences: Record<string, string> = { '\\n': '\n', '\\"': '"', '\\\\': '\\' }

function characterOf(sequence: string): string {
  const character = escapeSequences[sequence]
  if (character === undefined)
    throw new Error(`The script in @scalar/fastify-api-reference contains ${sequence}: add it to escapeSequences.`)
  return character
}

function pageWith(scriptName: string): string {
  const configuration = JSON.stringify({
    url: '/openapi.json',
    // The page sends requests only to the servers in the document.
    withDefaultFonts: false,
    telemetry: false,
    proxyUrl: '',
    hideClientButton: true,
    showDeveloperTools: 'never',
    authentication: { preferredSecurityScheme: 'apiKey' },
    mcp: { disabled: true },
    agent: { disabled: true },
  })
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Petstore API reference</title>
  </head>
  <body>
    <div id="api-reference" data-configuration="${configuration.replaceAll('"', '&quot;')}"></div>
    <script src="${scriptName}"></script>
  </body>
</html>
`
}

/** Allows no inline scripts, and requests only to the servers in the document. Scalar adds style elements to the page. */
function pagePolicy(servers: oas31.ServerObject[]): string {
  const origins = servers.map(({ url }) => new URL(url).origin)
  return [
    "default-src 'none'",
    `connect-src 'self' ${origins.join(' ')}`,
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}
