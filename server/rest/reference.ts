import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { FastifyInstance } from 'fastify'
import type { oas31 } from 'zod-openapi'
import { labelRoutes, type RequestLabels } from '../http/request-labels.ts'
import { handleOtherMethods, type Page } from '../http/routing.ts'
import { baseElement, immutable, mediaTypeOf, revalidated, serveFile } from '../http/static-files.ts'

interface ReferenceOptions {
  /** Creates the OpenAPI document. Called once, for the first request. */
  document: () => Promise<unknown>
  /** The servers in the document, which the page may call. */
  servers: () => oas31.ServerObject[]
  /** The path of the service: empty, or such as `/petstore`. */
  basePath: string
  /** The page of the console, which shows the reference below its header. Without it, the page has only the reference. */
  consolePage: Page | undefined
}

const documentLabels: RequestLabels = { adapter: 'http', operation: 'document' }
const documentHeaders = { 'content-type': 'application/json; charset=utf-8', ...revalidated }

/** The OpenAPI document at `/openapi.json` and an interactive reference at `/docs`. Neither needs an API key. */
export async function reference(
  app: FastifyInstance,
  { document, servers, basePath, consolePage }: ReferenceOptions,
): Promise<void> {
  labelRoutes(app, 'reference')
  const makeDocument = async () => Buffer.from(JSON.stringify(await document()))
  serveFile(app, '/openapi.json', makeDocument, documentHeaders, documentLabels)

  const script = scalarName()
  const page = pageWith(script, consolePage, basePath)
  app.get('/docs', async (_request, reply) => reply.redirect(`${basePath}/docs/`, 301))
  handleOtherMethods(app, '/docs', ['GET', 'HEAD'])
  app.get('/docs/', async (_request, reply) =>
    reply.type('text/html; charset=utf-8').header('content-security-policy', pagePolicy(servers())).send(page),
  )
  handleOtherMethods(app, '/docs/', ['GET', 'HEAD'])
  serveFile(app, `/docs/${script}`, readScalar, { 'content-type': mediaTypeOf(script), ...immutable })
}

const scalar = import.meta.resolve('@scalar/fastify-api-reference')

/** Contains the version instead of a hash of the content, which would have to be read at the start. */
function scalarName(): string {
  // Safe: it is the package.json of a package.
  const { version } = JSON.parse(readFileSync(new URL('../package.json', scalar), 'utf8')) as { version: string }
  return `scalar-${version}.js`
}

/**
 * Scalar's script for browsers (MIT license). The package contains it only as a string literal in its module. Importing
 * that module would take half a second and 40 MB.
 */
export async function readScalar(): Promise<Buffer> {
  const module = await readFile(new URL(scalar))
  const prefix = 'var standalone_default = "'
  const start = module.indexOf(prefix)
  if (start === -1)
    throw new Error('@scalar/fastify-api-reference no longer contains its script as expected: update readScalar().')
  // In Latin-1 each byte is one character, so decoding takes a tenth of the time.
  const literal = module.toString('latin1', start + prefix.length, module.indexOf('";\n', start))
  return Buffer.from(literal.replaceAll(/\\./g, characterOf), 'latin1')
}

const escapeSequences: Record<string, string> = { '\\n': '\n', '\\"': '"', '\\\\': '\\' }

function characterOf(sequence: string): string {
  const character = escapeSequences[sequence]
  if (character === undefined)
    throw new Error(`The script in @scalar/fastify-api-reference contains ${sequence}: add it to escapeSequences.`)
  return character
}

function pageWith(script: string, consolePage: Page | undefined, basePath: string): string {
  if (consolePage) {
    // The console runs the script below its header. The links of Scalar to its sections are relative to this page.
    return consolePage.content
      .toString()
      .replaceAll('="./', '="../')
      .replace(baseElement(basePath), `<link rel="preload" as="script" href="./${script}" />`)
  }
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Petstore API reference</title>
  </head>
  <body>
    <script id="api-reference" data-url="../openapi.json" data-configuration='${JSON.stringify(ownOrigin)}'></script>
    <script src="${script}"></script>
  </body>
</html>
`
}

/** Scalar loads nothing from its own servers. */
const ownOrigin = { withDefaultFonts: false, telemetry: false, proxyUrl: '' }

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
