import { type AnyRouter, getErrorShape, transformTRPCResponse } from '@trpc/server'
import { fastifyTRPCPlugin } from '@trpc/server/adapters/fastify'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ApiError, logFault, toApiError } from './errors.ts'
import type { CreateContext } from './trpc.ts'

interface RpcDoorOptions {
  router: AnyRouter
  createContext: CreateContext
}

/** The most calls that may share one HTTP request. */
export const maxBatchSize = 20

/** The RPC door: the procedures for tRPC's clients. Whatever fails, the answer is the envelope they read. */
export async function rpcDoor(app: FastifyInstance, { router, createContext }: RpcDoorOptions): Promise<void> {
  app.setErrorHandler((thrown, request, reply) => sendEnvelope(router, thrown, request, reply))
  app.setNotFoundHandler((request, reply) =>
    sendEnvelope(router, new ApiError('not_found', 'No procedure has this path.'), request, reply),
  )
  await app.register(fastifyTRPCPlugin, {
    trpcOptions: {
      router,
      maxBatchSize,
      createContext: ({ req }: { req: FastifyRequest }) => createContext(req),
      onError: ({ error, req }: { error: Error; req: FastifyRequest }) => logFault(toApiError(error), req.log),
    },
  })
}

/** An error that arose outside a procedure, put as tRPC would have put it. */
function sendEnvelope(router: AnyRouter, thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const error = toApiError(thrown)
  logFault(error, request.log)
  const config = router._def._config
  const shape = getErrorShape({ config, error, type: 'unknown', path: undefined, input: undefined, ctx: undefined })
  return reply
    .code(error.body.status)
    .headers(error.headers)
    .send(transformTRPCResponse(config, { error: shape }))
}
