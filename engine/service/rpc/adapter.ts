import type { AnyRouter } from '@trpc/server'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { toApiError } from '../api/errors.ts'
import type { CacheableResponse, ResponseCache } from '../http/cache/response-cache.ts'
import { prepareReply, reportFault, toHttpError } from '../http/error-responses.ts'
import { acceptJsonOnly, handleOtherMethods, notEmpty, refuseUnknownPaths } from '../http/routing.ts'
import { type CallOptions, contextsOf, markReplays } from '../procedures/context.ts'
import { type Context, errorEnvelope } from '../procedures/trpc.ts'
import { callReader, isBatch, namesIn, pathOf, type RpcCall, type RpcRequest, type RpcRoute } from './calls.ts'

const url = `/:path${notEmpty}`
const contentType = { 'content-type': 'application/json; charset=utf-8' }

/** tRPC's clients require its envelope also for errors. Its own handler takes many times as long. */
export async function rpcAdapter(
  app: FastifyInstance,
  { router, calls: options, cache }: { router: AnyRouter; calls: CallOptions; cache: ResponseCache },
): Promise<void> {
  app.setErrorHandler((thrown, request, reply) => {
    const error = toHttpError(thrown)
    return prepareReply(error, request, reply).send(errorEnvelope(error, undefined))
  })
  refuseUnknownPaths(app)
  // The reader parses the text.
  acceptJsonOnly(app, (text) => text)
  const reader = callReader(router)

  async function respond(request: RpcRequest, reply: FastifyReply): Promise<CacheableResponse> {
    const calls = reader.read(request)
    const replays = calls.map((call) => call.replays)
    const contextOf = contextsOf(options, request, reply, replays)
    const responses = await Promise.all(calls.map((call, index) => respondToCall(call, contextOf(index), request)))
    markReplays(request, reply)
    const [first] = responses
    // A mutation is stored, so its response must be sent.
    if (responses.length > 1 && request.method !== 'POST') {
      const bytes = responses.reduce((sum, { body }) => sum + body.length, 0)
      app.countBytes(request, reply.raw, bytes)
    }
    if (isStreamed(request)) return joinAsStream(responses)
    return first && !isBatch(request.query) ? first : joinResponses(responses)
  }

  app.route<RpcRoute>({
    method: ['GET', 'HEAD', 'POST'],
    url,
    config: {
      labels: (request) => reader.labelsOf(pathOf(request)),
      procedures: (request) => reader.names(pathOf(request)),
      calls: (request) => namesIn(pathOf(request)).length,
    },
    async handler(request, reply) {
      const { status, headers, body } = await (reader.isCacheable(request) && !isStreamed(request)
        ? cache(request, () => respond(request, reply))
        : respond(request, reply))
      reply.code(status).headers(headers)
      return body
    },
  })
  handleOtherMethods(app, url, ['GET', 'HEAD', 'POST'])
}

/** Each call of a batch succeeds or fails alone. */
async function respondToCall(
  { name, run }: RpcCall,
  ctx: Context,
  request: FastifyRequest,
): Promise<CacheableResponse> {
  try {
    return { status: 200, headers: contentType, body: `{"result":{"data":${await run(ctx)}}}` }
  } catch (thrown) {
    const error = toApiError(thrown)
    reportFault(error, request)
    const headers = { ...contentType, ...error.headers }
    return { status: error.body.status, headers, body: JSON.stringify(errorEnvelope(error, name)) }
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

/** Whether the client reads a batch as tRPC's stream of JSON lines. A response to HEAD has no body that could be one. */
function isStreamed({ method, query, headers }: RpcRequest): boolean {
  const types = headers['trpc-accept'] ?? headers.accept ?? ''
  return isBatch(query) && method !== 'HEAD' && String(types).includes('application/jsonl')
}

/**
 * Joins the responses of a batch for `httpBatchStreamLink`, all in the first line of the stream: none takes long enough that
 * another should not wait for it. That client needs a successful status, also if all calls have failed.
 */
function joinAsStream(responses: CacheableResponse[]): CacheableResponse {
  const { status, headers } = joinResponses(responses)
  const calls = responses.map(({ body }) => JSON.parse(body))
  const values = calls.flatMap(({ result, error }, index) => {
    const types = (error ?? result.data).meta?.values
    return types ? [[`${index}.0.0.${error ? 'error' : 'result.data'}`, types]] : []
  })
  const json = calls.map(({ result, error }) => [
    [error ? { error: error.json } : { result: { data: result.data.json } }],
  ])
  const line = JSON.stringify({ json: { ...json }, meta: { values: Object.fromEntries(values), v: 1 } })
  return { status: status === 200 ? 200 : 207, headers: { ...headers, vary: 'trpc-accept' }, body: `${line}\n` }
}
