import { type AnyRouter, getErrorShape, type TRPCError, transformTRPCResponse } from '@trpc/server'
import { type FastifyHandlerOptions, fastifyRequestHandler } from '@trpc/server/adapters/fastify'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { acceptJsonOnly } from './body.ts'
import { ApiError, logFault, prepareReply, toApiError } from './errors.ts'
import { answerOtherMethods, refuseUnknownPaths } from './routes.ts'
import type { Context, CreateContext } from './trpc.ts'

interface RpcDoorOptions {
  router: AnyRouter
  createContext: CreateContext
}

/** The most calls that may share one HTTP request. */
export const maxBatchSize = 20

/** The RPC door: the procedures for tRPC's clients. Whatever fails, the answer is the envelope they read. */
export async function rpcDoor(app: FastifyInstance, { router, createContext }: RpcDoorOptions): Promise<void> {
  app.setErrorHandler((thrown, request, reply) => sendEnvelope(router, thrown, request, reply))
  refuseUnknownPaths(app)
  // tRPC parses the text itself.
  acceptJsonOnly(app, (text) => text)

  const options: FastifyHandlerOptions<AnyRouter, FastifyRequest, FastifyReply> = {
    router,
    maxBatchSize,
    createContext: ({ req, res }) => checkSingle(createContext(req, res), req.url),
    responseMeta: ({ errors }) => ({ headers: headersOf(errors) }),
    onError: ({ error, req }) => logFault(toApiError(error), req.log),
  }
  app.route<{ Params: { path: string } }>({
    method: ['GET', 'POST'],
    url: '/:path',
    exposeHeadRoute: false,
    handler: (req, res) => fastifyRequestHandler({ ...options, req, res, path: req.params.path }),
  })
  answerOtherMethods(app, '/:path', ['GET', 'POST'])
}

/** The calls of a batch share its headers, and so would take each other for the repetition of one. */
function checkSingle(context: Context, url: string): Context {
  const [path = ''] = url.split('?')
  if (context.idempotencyKey !== undefined && /,|%2c/i.test(path)) {
    throw new ApiError('invalid_request', 'Idempotency-Key: expected only with a single call, not with a batch')
  }
  return context
}

/** tRPC itself leaves out the type of an answer to a request it cannot take apart. */
function headersOf(errors: TRPCError[]): Record<string, string> {
  return Object.assign({ 'content-type': 'application/json' }, ...errors.map((error) => toApiError(error).headers))
}

/** An error that arose outside a procedure, put as tRPC would have put it. */
function sendEnvelope(router: AnyRouter, thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const error = toApiError(thrown)
  const config = router._def._config
  const shape = getErrorShape({ config, error, type: 'unknown', path: undefined, input: undefined, ctx: undefined })
  return prepareReply(error, request, reply).send(transformTRPCResponse(config, { error: shape }))
}
