import { METHODS } from 'node:http'
import type { FastifyInstance, RouteShorthandOptions } from 'fastify'
import { ApiError } from '../api/errors.ts'

/** Lets Fastify route every method Node can parse, so that none of them is mistaken for an unknown path. */
export function knowAllMethods(app: FastifyInstance): void {
  for (const method of METHODS) {
    if (method !== 'CONNECT' && !app.supportedMethods.includes(method)) app.addHttpMethod(method)
  }
}

/**
 * Completes a URL that has routes for `methods`: OPTIONS answers 204, any other method 405, both with `Allow`
 * (RFC 9110, section 15.5.6).
 */
export function handleOtherMethods(
  app: FastifyInstance,
  url: string,
  methods: string[],
  options: RouteShorthandOptions = {},
): void {
  const allowed = [...methods, 'OPTIONS']
  const allow = allowed.join(', ')
  app.options(url, options, async (_request, reply) => reply.code(204).header('allow', allow).send())
  app.route({
    ...options,
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

/**
 * Answers 404 to what has no route below the instance's prefix: after the instance's own checks, such as that of the API
 * key, and before the body is looked at.
 */
export function refuseUnknownPaths(app: FastifyInstance): void {
  app.setNotFoundHandler(() => {})
  app.addHook('preParsing', (request, _reply, payload, done) => {
    if (request.is404) done(new ApiError('not_found', 'There is nothing at this path.'))
    else done(null, payload)
  })
}
