import type { AnyRouter } from '@trpc/server'
import type { FastifyInstance, FastifyReply, FastifyRequest, onSendHookHandler } from 'fastify'
import { explainUnreadable, toApiError } from '../api/errors.ts'
import { parseJson } from '../api/literals.ts'
import { jsonWriter } from '../api/output.ts'
import { isRecord } from '../api/validation.ts'
import type { CacheableResponse, ResponseCache } from '../http/cache/response-cache.ts'
import { acceptJsonOnly, handleOtherMethods, notEmpty, refuseUnknownPaths } from '../http/routing.ts'
import { requireWriteAccess } from '../procedures/access.ts'
import { type CallOptions, contextsOf, markReplays } from '../procedures/context.ts'
import { textOf } from '../reader/fields.ts'
import { inputReader } from './input.ts'
import { isPaged, type Operation, operationsOf, successStatus, takesBody } from './operations.ts'

interface RestOptions {
  router: AnyRouter
  calls: CallOptions
  cache: ResponseCache
  /** The path of the service in `Location`: empty, or such as `/shop`. A proxy removes it from requests. */
  basePath: string
  /** Where clients reach the service, for `Link`: a URL, or the path if its origin is not known. */
  address: () => string
  /** Whether `/docs/` is a page. Otherwise the OpenAPI document says which operations are deprecated. */
  hasReference: boolean
}

/** The REST adapter: one route for each procedure with `meta.openapi`. */
export async function restAdapter(
  app: FastifyInstance,
  { router, calls, cache, basePath, address, hasReference }: RestOptions,
): Promise<void> {
  const location = basePath + app.prefix
  const apiUrl = () => address() + app.prefix
  const [documentation, type] = hasReference ? ['docs/', 'text/html'] : ['openapi.json', 'application/json']
  const documentationLink = () => `<${address()}/${documentation}>; rel="deprecation"; type="${type}"`
  acceptJsonOnly(app, parseJson)
  refuseUnknownPaths(app)
  for (const [path, operations] of Map.groupBy(operationsOf(router), ({ path }) => path)) {
    const url = path.replaceAll(/\{(\w+)\}/g, (_parameter, name: string) => `:${name}${notEmpty}`)
    for (const operation of operations) {
      const respond = responder(operation, calls, location, apiUrl)
      app.route({
        url,
        method: methodsOf(operation),
        onSend: deprecationHooks([operation], apiUrl, documentationLink),
        // Before the body is read.
        ...(operation.type === 'mutation' && { onRequest: async (request) => requireWriteAccess(request) }),
        config: { labels: { adapter: 'rest', operation: operation.name } },
        async handler(request, reply) {
          const { status, headers, body } = await (operation.meta.cache
            ? cache(request, () => respond(request, reply))
            : respond(request, reply))
          reply.code(status).headers(headers)
          return body
        },
      })
    }
    const onSend = deprecationHooks(operations, apiUrl, documentationLink)
    handleOtherMethods(app, url, operations.flatMap(methodsOf), { onSend })
  }
}

function methodsOf({ method }: Operation): string[] {
  return method === 'GET' ? ['GET', 'HEAD'] : [method]
}

function responder(operation: Operation, calls: CallOptions, location: string, apiUrl: () => string) {
  const readInput = inputReader(operation)
  const next = nextLink(operation, apiUrl)
  const status = successStatus(operation)
  const write = jsonWriter(operation.output)

  return async (request: FastifyRequest, reply: FastifyReply): Promise<CacheableResponse> => {
    const input = readInput(request)
    const ctx = contextsOf(calls, request, reply, [operation.replays])(0)
    const output = await operation.call(input, ctx).catch((thrown) => {
      // RPC does the same. A library may throw an error with a status, which is not the status of this request.
      throw toApiError(thrown, takesBody(operation) ? 'body' : undefined)
    })
    markReplays(request, reply)
    const headers: CacheableResponse['headers'] = { 'content-type': 'application/json; charset=utf-8' }
    if (operation.hasLocation && isRecord(output))
      headers.location = `${location}${filledPath(operation, input)}/${output.id}`
    const link = next?.(input, output)
    if (link) headers.link = link
    try {
      return { status, headers, body: write(output) }
    } catch (error) {
      throw explainUnreadable(operation.output, output, error)
    }
  }
}

/**
 * Every response of a deprecated operation announces it, errors included: `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and
 * `Link` (RFC 8288). Of several operations of one path, the first deprecated one counts.
 */
function deprecationHooks(
  operations: Operation[],
  apiUrl: () => string,
  documentationLink: () => string,
): onSendHookHandler[] {
  const deprecation = operations.find(({ meta }) => meta.deprecation)?.meta.deprecation
  if (!deprecation) return []
  const { since, sunset, successor } = deprecation
  const dates = { deprecation: `@${since.getTime() / 1000}`, sunset: sunset.toUTCString() }
  return [
    (_request, reply, payload, done) => {
      const links = [reply.getHeader('link'), `<${apiUrl()}${successor}>; rel="successor-version"`, documentationLink()]
      reply.headers({ ...dates, link: links.filter(Boolean).join(', ') })
      done(null, payload)
    },
  ]
}

function filledPath({ path }: Operation, input: Record<string, unknown>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_parameter, name: string) => encodeURIComponent(textOf(input[name])))
}

/**
 * Keyset pagination for operations with the inputs `cursor` and `limit`: a full page links to the page after its last id (RFC
 * 8288), which keeps the other parameters. Many clients do not resolve a relative link.
 */
function nextLink(operation: Operation, apiUrl: () => string) {
  const { limit } = operation.input.shape
  if (!isPaged(operation) || !limit) return undefined
  const { success, data: defaultLimit } = limit.safeParse(undefined)
  if (!success) throw new Error(`${operation.name} cannot be served as REST: its limit needs a default.`)

  return (input: Record<string, unknown>, page: unknown): string | undefined => {
    if (!Array.isArray(page) || page.length < Number(input.limit ?? defaultLimit)) return undefined
    const query = { ...input, cursor: page.at(-1).id }
    const pairs = Object.entries(query)
      .filter(([name]) => !operation.path.includes(`{${name}}`))
      .map(([name, value]) => `${name}=${encodeURIComponent(textOf(value))}`)
    return `<${apiUrl()}${filledPath(operation, input)}?${pairs.join('&')}>; rel="next"`
  }
}
