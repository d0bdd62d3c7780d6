import type { FastifyInstance, FastifyRequest, RouteOptions, RouteShorthandOptions } from 'fastify'
import { ApiError } from '../api/errors.ts'
import { preferred } from './cache/negotiation.ts'
import { otherMethod } from './request.ts'

/** Routes every method that Node can parse. An unusual method is then refused with 405 instead of 404. */
export function routeAllMethods(app: FastifyInstance): void {
  for (const method of process.getBuiltinModule('node:http').METHODS) {
    if (method !== 'CONNECT' && !app.supportedMethods.includes(method)) app.addHttpMethod(method)
  }
}

/** Serves GET and HEAD at a URL, and handles the other methods. */
export function serveReads(
  app: FastifyInstance,
  url: string,
  handler: RouteOptions['handler'],
  config: RouteOptions['config'] = {},
): void {
  const method = ['GET', 'HEAD']
  app.route({ url, method, handler, config })
  handleOtherMethods(app, url, method)
}

/** Completes a URL that has routes for `methods`: OPTIONS gets 204, others 405, with `Allow` (RFC 9110, section 15.5.6). */
export function handleOtherMethods(
  app: FastifyInstance,
  url: string,
  methods: string[],
  options: RouteShorthandOptions = {},
): void {
  const allowed = [...methods, 'OPTIONS']
  const allow = allowed.join(', ')
  const config = { labels: otherMethod }
  app.options(url, { ...options, config }, async (_request, reply) => reply.code(204).header('allow', allow).send())
  app.route({
    ...options,
    config,
    url,
    method: app.supportedMethods.filter((method) => !allowed.includes(method)),
    onRequest: async (request) => {
      throw new ApiError('method_not_allowed', `${request.method} is not served at this path. Use ${allow}.`, {
        headers: { allow },
      })
    },
    handler: () => {},
  })
}

/** Follows the name of a parameter in the URL of a route. An empty value then matches no route. */
export const notEmpty = '([^]+)'

/** The path of the route with placeholders, such as `/items/:id`, without their patterns. Undefined without a route. */
export function routeOf({ routeOptions }: FastifyRequest): string | undefined {
  const path = routeOptions.url?.replaceAll(notEmpty, '')
  // The names of the files in a folder.
  return path?.endsWith(')') ? path.slice(0, path.indexOf('(')) : path
}

/** A file in memory. The headers include the content type. */
export interface Page {
  content: Buffer
  headers: Record<string, string>
}

/**
 * Responds 404 to paths below the prefix of this instance that have no route, to browsers with the page. The hooks of the
 * instance, such as the check of the API key, run first. The body is not parsed.
 */
export function refuseUnknownPaths(app: FastifyInstance, page?: Page | undefined): void {
  app.setNotFoundHandler(() => {})
  app.addHook('preParsing', (request, reply, payload, done) => {
    // An instance with a prefix of its own inherits this hook.
    if (!request.is404 || request.server !== app) return done(null, payload)
    if (page) reply.header('vary', 'accept')
    if (page && prefersHtml(request)) reply.code(404).headers(page.headers).send(page.content)
    else done(new ApiError('not_found', 'There is nothing at this path.'))
  })
}

/** Browsers name `text/html` only if they navigate. */
function prefersHtml({ method, headers }: FastifyRequest): boolean {
  const types = ['application/json', 'text/html']
  return ['GET', 'HEAD'].includes(method) && preferred(headers.accept, types) === 'text/html'
}

export function ignoreBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Accepts only bodies of type `application/json` in UTF-8 (RFC 8259). `request.body` is what `parse` returns. */
export function acceptJsonOnly(app: FastifyInstance, parse: (text: string) => unknown): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    const { 'content-encoding': encoding = 'identity' } = request.headers
    if (encoding.toLowerCase() !== 'identity')
      return done(new ApiError('unsupported_media_type', 'Send the body without a Content-Encoding.'))
    if (body.length === 0) return done(null, undefined)
    let parsed: unknown
    try {
      parsed = parse(utf8.decode(body))
    } catch (cause) {
      return done(new ApiError('invalid_request', 'The body is not valid JSON in UTF-8.', { cause }))
    }
    done(null, parsed)
  })
}
