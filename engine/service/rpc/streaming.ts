import type { AnyRouter } from '@trpc/server'
import type { FastifyHandlerOptions } from '@trpc/server/adapters/fastify'
import type { FastifyInstance, FastifyReply, FastifyRequest, onSendHookHandler } from 'fastify'
import { ApiError, toApiError } from '../api/errors.ts'
import { reportFault } from '../http/error-responses.ts'
import { markReplays } from '../procedures/context.ts'
import type { Context } from '../procedures/trpc.ts'
import { maxBatchSize, namesIn, pathOf, type RpcRequest } from './calls.ts'

declare module 'fastify' {
  interface FastifyReply {
    /** Bytes of a response body that were streamed so far. */
    streamedBytes?: number
    /** Calls of a streamed response that failed. Its status is 200 nevertheless. */
    failedCalls?: number
    /** For the metrics: the status that a streamed response with failed calls would have without the stream. */
    failedStatus?: number
  }
}

/** Whether the client wants the response as a stream of JSON lines. A response to HEAD has no body that could be one. */
export function isStreamed({ method, headers }: RpcRequest): boolean {
  const types = headers['trpc-accept'] ?? headers.accept ?? ''
  return method !== 'HEAD' && String(types).includes('application/jsonl')
}

/** Makes the function that serves streamed requests. It calls tRPC's own handler, which no other request reaches. */
export function streamer(
  app: FastifyInstance,
  router: AnyRouter,
  createContext: (request: RpcRequest, reply: FastifyReply) => Context,
) {
  app.decorateReply('streamedBytes', 0)
  app.decorateReply('failedCalls', 0)
  // tRPC's handler decodes the path a second time and could find more calls than the rate limit has counted.
  app.addHook('onRequest', (request, _reply, done) =>
    done(pathOf(request).includes('%') ? new ApiError('not_found', 'There is nothing at this path.') : undefined),
  )
  app.addHook('onSend', prepareStream)
  const options: FastifyHandlerOptions<AnyRouter, RpcRequest, FastifyReply> = {
    router,
    maxBatchSize,
    createContext: ({ req, res }) => createContext(req, res),
    // tRPC's handler omits the content type of some errors.
    responseMeta: ({ errors }) => ({
      headers: Object.assign({ 'content-type': 'application/json' }, ...errors.map((each) => toApiError(each).headers)),
    }),
  }
  return async (req: RpcRequest, res: FastifyReply) => {
    // Not before, because it imports node:http, and so Node's fetch.
    const { fastifyRequestHandler } = await import('@trpc/server/adapters/fastify')
    const calls = namesIn(req.params.path).length
    const statuses = new Set<number>()
    return fastifyRequestHandler({
      ...options,
      req,
      res,
      path: req.params.path,
      onError({ error: thrown, path }) {
        const error = toApiError(thrown)
        const { status } = error.body
        statuses.add(status)
        res.failedCalls = (res.failedCalls ?? 0) + 1
        // Without a path, the request fails before its calls.
        const haveAllFailed = path === undefined || res.failedCalls === calls
        res.failedStatus = haveAllFailed && statuses.size === 1 ? status : 207
        reportFault(error, req)
      },
    })
  }
}

function prepareStream(...[request, reply, payload, done]: Parameters<onSendHookHandler>): void {
  if (!(payload instanceof Response) || !payload.body) done(null, payload)
  else void streamOf(payload, payload.body, request, reply).then((response) => done(null, response), done)
}

/** The responses of tRPC's handler are streams without a Content-Length. */
async function streamOf(
  response: Response,
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Response> {
  // The end of the only call decides about a header, so nothing is sent before.
  const [idempotency] = request.idempotency ?? []
  const source = idempotency ? new Blob([await response.arrayBuffer()]).stream() : body
  markReplays([{ idempotency }], reply)
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      reply.streamedBytes = (reply.streamedBytes ?? 0) + chunk.byteLength
      controller.enqueue(chunk)
    },
  })
  const counted = new Response(source.pipeThrough(counter), response)
  // Node sets it, but not for HTTP/1.0, which does not know it.
  counted.headers.delete('transfer-encoding')
  return counted
}
