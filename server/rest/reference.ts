import { readFileSync } from 'node:fs'
import { basename, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FastifyInstance } from 'fastify'
import type { oas31 } from 'zod-openapi'
import { labelRoutes, type RequestLabels } from '../http/request-labels.ts'
import { handleOtherMethods } from '../http/routing.ts'
import { contentHash, immutable, mediaTypeOf, serveFile } from '../http/static-files.ts'

interface ReferenceOptions {
  /** Creates the OpenAPI document. Called once, for the first request. */
  document: () => unknown
  /** The servers in the document, which the page may call. */
  servers: () => oas31.ServerObject[]
  /** The path of the service: empty, or such as `/petstore`. */
  basePath: string
  /** Whether the page links to the console, and offers to use its API key. */
  hasConsole: boolean
}

const documentLabels: RequestLabels = { adapter: 'http', operation: 'document' }

/** The name contains a hash of the content. */
interface Asset {
  name: string
  content: Buffer
}

/** Read for the first service of the process. */
let assets: Record<'scalar' | 'script' | 'style', Asset> | undefined

/** The OpenAPI document at `/openapi.json` and an interactive reference at `/docs`. Neither needs an API key. */
export async function reference(
  app: FastifyInstance,
  { document, servers, basePath, hasConsole }: ReferenceOptions,
): Promise<void> {
  labelRoutes(app, 'reference')
  let json: string | undefined
  app.get('/openapi.json', { config: { labels: documentLabels } }, async (_request, reply) => {
    json ??= JSON.stringify(document())
    return reply.type('application/json; charset=utf-8').send(json)
  })
  handleOtherMethods(app, '/openapi.json', ['GET', 'HEAD'])

  assets ??= { scalar: readScalar(), script: readAsset('page.js'), style: readAsset('page.css') }
  const page = pageWith(assets, hasConsole)
  app.get('/docs', async (_request, reply) => reply.redirect(`${basePath}/docs/`, 301))
  handleOtherMethods(app, '/docs', ['GET', 'HEAD'])
  app.get('/docs/', async (_request, reply) =>
    reply.type('text/html; charset=utf-8').header('content-security-policy', pagePolicy(servers())).send(page),
  )
  handleOtherMethods(app, '/docs/', ['GET', 'HEAD'])
  for (const { name, content } of Object.values(assets)) {
    serveFile(app, `/docs/${name}`, content, { 'content-type': mediaTypeOf(name), ...immutable })
  }
}

function readAsset(name: string): Asset {
  return namedByHash(name, readFileSync(join(import.meta.dirname, 'reference', name)))
}

function namedByHash(name: string, content: Buffer): Asset {
  const extension = extname(name)
  return { name: `${basename(name, extension)}-${contentHash(content)}${extension}`, content }
}

/**
 * Scalar's script for browsers (MIT license). The package contains it only as a string literal in its module. Importing
 * that module would take half a second and 40 MB.
 */
export function readScalar(): Asset {
  const module = readFileSync(fileURLToPath(import.meta.resolve('@scalar/fastify-api-reference')))
  const prefix = 'var standalone_default = "'
  const start = module.indexOf(prefix)
  if (start === -1)
    throw new Error('@scalar/fastify-api-reference no longer contains its script as expected: update readScalar().')
  // In Latin-1 each byte is one character, so decoding takes a tenth of the time.
  const literal = module.toString('latin1', start + prefix.length, module.indexOf('";\n', start))
  return namedByHash('scalar.js', Buffer.from(literal.replaceAll(/\\./g, characterOf), 'latin1'))
}

const escapeSequences: Record<string, string> = { '\\n': '\n', '\\"': '"', '\\\\': '\\' }

function characterOf(sequence: string): string {
  const character = escapeSequences[sequence]
  if (character === undefined)
    throw new Error(`The script in @scalar/fastify-api-reference contains ${sequence}: add it to escapeSequences.`)
  return character
}

function pageWith({ scalar, script, style }: NonNullable<typeof assets>, hasConsole: boolean): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Petstore API reference</title>
    <link rel="stylesheet" href="${style.name}">
    <script type="module" blocking="render" src="${script.name}"></script>
    <script defer src="${scalar.name}"></script>
  </head>
  <body>${hasConsole ? consoleBar : ''}
    <div id="reference"></div>
  </body>
</html>
`
}

const consoleBar = `
    <nav class="bar" aria-label="Console">
      <a href="../"><span aria-hidden="true">←</span> Console</a>
      <p role="status"></p>
      <button type="button">Use the key of the console</button>
    </nav>`

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
