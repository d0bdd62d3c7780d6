import { type AnyRouter, getErrorShape, type TRPCError, transformTRPCResponse } from '@trpc/server'
import { type FastifyHandlerOptions, fastifyRequestHandler } from '@trpc/server/adapters/fastify'
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import { ApiError, toApiError } from '../api/errors.ts'
import type { Context } from '../api/trpc.ts'
import type { AdapterOptions } from '../http/adapter-options.ts'
import { acceptJsonOnly } from '../http/body.ts'
import { logFault, prepareReply, toHttpError } from '../http/error-responses.ts'
import { handleOtherMethods, refuseUnknownPaths } from '../http/methods.ts'
import { type Answer, answerCache, cacheableProcedures } from '../http/response-cache.ts'
import { callReader, type DirectCall, isBatch, isUnusual, maxBatchSize } from './direct.ts'

interface RpcRoute {
  Params: { path: string }
}

type RpcRequest = FastifyRequest<RpcRoute>

/**
 * The RPC door: the procedures for tRPC's clients. Whatever fails, the answer is the envelope they read. What they usually
 * send is answered here; the rest is left to tRPC's own handler, which is many times as slow.
 */
export async function rpcDoor(app: FastifyInstance, { router, store, createContext }: AdapterOptions): Promise<void> {
  app.setErrorHandler((thrown, request, reply) => sendEnvelope(router, thrown, request, reply))
  refuseUnknownPaths(app)
  app.addHook('onRequest', refuseTwiceEncoded)
  // It is parsed here or by tRPC.
  acceptJsonOnly(app, (text) => text)

  const options: FastifyHandlerOptions<AnyRouter, FastifyRequest, FastifyReply> = {
    router,
    maxBatchSize,
    createContext: ({ req, res }) => checkSingle(createContext(req, res), req.url),
    responseMeta: ({ errors }) => ({ headers: headersOf(errors) }),
    onError: ({ error, req }) => logFault(toApiError(error), req.log),
  }
  const readCalls = callReader(router)
  const answers = answerCache(store)
  const cacheable = cacheableProcedures(router)

  async function answer(request: FastifyRequest, reply: FastifyReply): Promise<Answer | undefined> {
    const calls = readCalls(request)
    if (!calls) return undefined
    const ctx = createContext(request, reply)
    const answers = await Promise.all(calls.map((call) => answerCall(router, call, ctx, request.log)))
    return isBatch(request.query) ? joinAnswers(answers) : answers[0]
  }

  async function answerUsual(request: RpcRequest, reply: FastifyReply): Promise<Answer | undefined> {
    if (isUnusual(request)) return undefined
    const names = request.params.path.split(',')
    if (request.method !== 'GET' || !names.every((name) => cacheable.has(name))) return answer(request, reply)
    return answers.load(request.url, () => answer(request, reply), isLasting)
  }

  app.route<RpcRoute>({
    method: ['GET', 'POST'],
    url: '/:path',
    exposeHeadRoute: false,
    async handler(req, res) {
      const usual = await answerUsual(req, res)
      if (!usual) return fastifyRequestHandler({ ...options, req, res, path: req.params.path })
      res.code(usual.status).headers(usual.headers)
      return usual.body
    },
  })
  handleOtherMethods(app, '/:path', ['GET', 'POST'])
}

function isLasting({ status }: Answer): boolean {
  return status === 200
}

/** As tRPC puts the answers of a batch together. */
function joinAnswers(answers: Answer[]): Answer {
  const [status = 207, ...otherStatuses] = new Set(answers.map(({ status }) => status))
  return {
    status: otherStatuses.length > 0 ? 207 : status,
    headers: Object.assign({}, ...answers.map(({ headers }) => headers)),
    body: `[${answers.map(({ body }) => body).join(',')}]`,
  }
}

/** Calls a procedure, which fails for itself. */
async function answerCall(router: AnyRouter, call: DirectCall, ctx: Context, log: FastifyBaseLogger): Promise<Answer> {
  try {
    const output = await call.call(call.input, ctx)
    return { status: 200, headers: contentType, body: `{"result":{"data":${call.write(output)}}}` }
  } catch (thrown) {
    const error = toApiError(thrown)
    logFault(error, log)
    return {
      status: error.body.status,
      headers: { ...contentType, ...error.headers },
      body: JSON.stringify(envelope(router, error, call.path)),
    }
  }
}

const contentType = { 'content-type': 'application/json' }

/** tRPC decodes the path again, and would find more calls in it than were counted. */
function refuseTwiceEncoded({ params }: FastifyRequest, _reply: FastifyReply, done: HookHandlerDoneFunction): void {
  const { path = '' } = params as { path?: string }
  done(path.includes('%') ? new ApiError('not_found', 'There is nothing at this path.') : undefined)
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
  return Object.assign({ ...contentType }, ...errors.map((error) => toApiError(error).headers))
}

function envelope(router: AnyRouter, error: ApiError, path: string | undefined): unknown {
  const config = router._def._config
  const shape = getErrorShape({ config, error, type: 'unknown', path, input: undefined, ctx: undefined })
  return transformTRPCResponse(config, { error: shape })
}

/** An error that arose outside a procedure, put as tRPC would have put it. */
function sendEnvelope(router: AnyRouter, thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const error = toHttpError(thrown)
  return prepareReply(error, request, reply).send(envelope(router, error, undefined))
}
