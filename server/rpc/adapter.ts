import { type AnyRouter, getErrorShape, type TRPCError, transformTRPCResponse } from '@trpc/server'
import { type FastifyHandlerOptions, fastifyRequestHandler } from '@trpc/server/adapters/fastify'
import type {
  DoneFuncWithErrOrRes,
  FastifyBaseLogger,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  HookHandlerDoneFunction,
} from 'fastify'
import { ApiError, toApiError } from '../api/errors.ts'
import type { Context } from '../api/trpc.ts'
import type { AdapterOptions } from '../http/adapter-options.ts'
import { logFault, prepareReply, toHttpError } from '../http/error-responses.ts'
import { type CacheableResponse, responseCache } from '../http/response-cache.ts'
import { acceptJsonOnly, handleOtherMethods, refuseUnknownPaths } from '../http/routing.ts'
import { callReader, isBatch, isStreamed, maxBatchSize, type RpcCall, type RpcRequest, type RpcRoute } from './calls.ts'

const contentType = { 'content-type': 'application/json' }

/**
 * The RPC adapter: the procedures for tRPC's clients, which require tRPC's envelope also for errors. tRPC's own handler,
 * which takes many times as long, processes only streamed requests.
 */
export async function rpcAdapter(
  app: FastifyInstance,
  { router, store, createContext, cacheLookups }: AdapterOptions,
): Promise<void> {
  app.decorateReply('streamedBytes', 0)
  app.addHook('onSend', countStreamedBytes)
  app.setErrorHandler((thrown, request, reply) => {
    const error = toHttpError(thrown)
    return prepareReply(error, request, reply).send(envelope(router, error, undefined))
  })
  refuseUnknownPaths(app)
  app.addHook('onRequest', refuseEncodedPath)
  // The adapter or tRPC's handler parses the text.
  acceptJsonOnly(app, (text) => text)

  const handlerOptions: FastifyHandlerOptions<AnyRouter, FastifyRequest, FastifyReply> = {
    router,
    maxBatchSize,
    createContext: ({ req, res }) => contextOf(req, res),
    responseMeta: ({ errors }) => ({ headers: errorHeaders(errors) }),
    onError: ({ error, req }) => logFault(toApiError(error), req.log),
  }
  const reader = callReader(router)
  const cache = responseCache(store, cacheLookups)

  function contextOf(request: FastifyRequest, reply: FastifyReply): Context {
    return refuseKeyOfBatch(createContext(request, reply), request.url)
  }

  async function respond(request: RpcRequest, reply: FastifyReply): Promise<CacheableResponse | undefined> {
    const calls = reader.read(request)
    if (isStreamed(request)) return undefined
    const ctx = contextOf(request, reply)
    const responses = await Promise.all(calls.map((call) => respondToCall(router, call, ctx, request.log)))
    return isBatch(request.query) ? joinResponses(responses) : responses[0]
  }

  app.route<RpcRoute>({
    method: ['GET', 'HEAD', 'POST'],
    url: '/:path',
    // Safe: this route has the parameter `path`.
    config: {
      labels: ({ params }) => reader.labelsOf((params as RpcRoute['Params']).path),
      procedures: ({ params }) => reader.names((params as RpcRoute['Params']).path),
    },
    async handler(req, res) {
      const response = await (reader.isCacheable(req)
        ? cache.load(req.url, () => respond(req, res))
        : respond(req, res))
      if (!response) return fastifyRequestHandler({ ...handlerOptions, req, res, path: req.params.path })
      res.code(response.status).headers(response.headers)
      return response.body
    },
  })
  handleOtherMethods(app, '/:path', ['GET', 'HEAD', 'POST'])
}

/** Each call of a batch succeeds or fails alone. */
async function respondToCall(
  router: AnyRouter,
  { name, run }: RpcCall,
  ctx: Context,
  log: FastifyBaseLogger,
): Promise<CacheableResponse> {
  try {
    return { status: 200, headers: contentType, body: `{"result":{"data":${await run(ctx)}}}` }
  } catch (thrown) {
    const error = toApiError(thrown)
    logFault(error, log)
    const headers = { ...contentType, ...error.headers }
    return { status: error.body.status, headers, body: JSON.stringify(envelope(router, error, name)) }
  }
}

/** Joins the responses of a batch as tRPC does: different statuses become 207. */
function joinResponses(responses: CacheableResponse[]): CacheableResponse {
  const [status = 207, ...otherStatuses] = new Set(responses.map(({ status }) => status))
  return {
    status: otherStatuses.length > 0 ? 207 : status,
    headers: Object.assign({}, ...responses.map(({ headers }) => headers)),
    body: `[${responses.map(({ body }) => body).join(',')}]`,
  }
}

/** tRPC's handler decodes the path a second time and could find more calls than the rate limit has counted. */
function refuseEncodedPath({ params }: FastifyRequest, _reply: FastifyReply, done: HookHandlerDoneFunction): void {
  // Only `/:path` has a parameter. A request without a route has none.
  const { path = '' } = params as Partial<RpcRoute['Params']>
  done(path.includes('%') ? new ApiError('not_found', 'There is nothing at this path.') : undefined)
}

/** The calls of a batch share its headers, so the second create would be a replay of the first. */
function refuseKeyOfBatch(context: Context, url: string): Context {
  const [path = ''] = url.split('?')
  if (context.once && /,|%2c/i.test(path)) {
    throw new ApiError('invalid_request', 'Idempotency-Key: expected only with a single call, not with a batch')
  }
  return context
}

/** The responses of tRPC's handler are streams without a Content-Length. */
function countStreamedBytes(
  _request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  done: DoneFuncWithErrOrRes,
): void {
  if (!(payload instanceof Response) || !payload.body) {
    done(null, payload)
    return
  }
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      reply.streamedBytes = (reply.streamedBytes ?? 0) + chunk.byteLength
      controller.enqueue(chunk)
    },
  })
  done(null, new Response(payload.body.pipeThrough(counter), payload))
}

/** tRPC's handler omits the content type of some errors. */
function errorHeaders(errors: TRPCError[]): Record<string, string> {
  return Object.assign({ ...contentType }, ...errors.map((error) => toApiError(error).headers))
}

/** The error in the form that tRPC's clients expect. */
function envelope(router: AnyRouter, error: ApiError, path: string | undefined): unknown {
  const config = router._def._config
  const shape = getErrorShape({ config, error, type: 'unknown', path, input: undefined, ctx: undefined })
  return transformTRPCResponse(config, { error: shape })
}
