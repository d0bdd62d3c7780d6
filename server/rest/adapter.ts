import type { FastifyInstance, FastifyReply, FastifyRequest, onSendHookHandler } from 'fastify'
import type { z } from 'zod'
import { createSchema } from 'zod-openapi'
import { compileProcedure } from '../api/call.ts'
import { ApiError } from '../api/errors.ts'
import { parseJson } from '../api/int64.ts'
import { expected, isRecord } from '../api/validation.ts'
import type { AdapterOptions } from '../http/adapter-options.ts'
import { acceptJsonOnly } from '../http/body.ts'
import { handleOtherMethods, refuseUnknownPaths } from '../http/methods.ts'
import { type Answer, answerCache, cacheableProcedures } from '../http/response-cache.ts'
import { fieldsDecoder, jsonDecoder, textDecoder } from './decode.ts'
import { deprecationHeaders } from './deprecation.ts'
import { type Operation, operationsOf, splitInput, successStatus, takesBody } from './operations.ts'
import { nextLink } from './paging.ts'

/** The REST door: one route for each procedure that carries `meta.openapi`, below the prefix it is registered with. */
export async function restDoor(app: FastifyInstance, options: AdapterOptions): Promise<void> {
  acceptJsonOnly(app, parseJson)
  refuseUnknownPaths(app)
  for (const [path, operations] of Map.groupBy(operationsOf(options.router), ({ path }) => path)) {
    const url = path.replaceAll(/\{(\w+)\}/g, ':$1')
    const onSend = announceDeprecation(operations, app.prefix)
    for (const operation of operations) {
      app.route({
        url,
        method: operation.method,
        schema: { response: { [successStatus(operation)]: serializationSchema(operation.output) } },
        onSend,
        handler: handlerFor(operation, options, app.prefix),
      })
    }
    const methods = operations.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
    handleOtherMethods(app, url, methods, { onSend })
  }
}

function handlerFor(operation: Operation, { router, store, createContext }: AdapterOptions, baseUrl: string) {
  const read = inputReader(operation)
  const call = compileProcedure(router, operation.procedure)
  const next = nextLink(operation, baseUrl)
  const status = successStatus(operation)
  const isCacheable = operation.method === 'GET' && cacheableProcedures(router).has(operation.procedure)
  const answers = answerCache(store)

  async function answer(request: FastifyRequest, reply: FastifyReply): Promise<Answer> {
    const input = read(request)
    const output = await call(input, createContext(request, reply))
    const headers: Answer['headers'] = { 'content-type': 'application/json; charset=utf-8' }
    if (status === 201 && isRecord(output)) headers.location = `${baseUrl}${operation.path}/${output.id}`
    const link = next?.(input, output)
    if (link) headers.link = link
    // Fastify chooses the serializer by the status.
    reply.code(status)
    return { status, headers, body: reply.serialize(output) as string }
  }

  return async (request: FastifyRequest, reply: FastifyReply): Promise<string> => {
    const { headers, body } = await (isCacheable
      ? answers.load(request.url, () => answer(request, reply))
      : answer(request, reply))
    reply.code(status).headers(headers)
    return body
  }
}

type ReadInput = (request: FastifyRequest) => Record<string, unknown>

/** Gathers a procedure's input from where the method keeps it: the path, and the body or else the query. */
function inputReader(operation: Operation): ReadInput {
  const { inPath, elsewhere } = splitInput(operation)
  const readPath = fieldsDecoder(inPath, textDecoder)
  const readRest = takesBody(operation) ? bodyReader(elsewhere) : queryReader(elsewhere)

  return (request) => {
    const parameters = readPath(request.params as Record<string, unknown>)
    if (Object.values(parameters).some(Number.isNaN)) throw new ApiError('not_found', 'There is nothing at this path.')
    return Object.assign(readRest(request), parameters)
  }
}

function queryReader(schema: z.ZodObject): ReadInput {
  const decode = fieldsDecoder(schema, textDecoder)
  return ({ query }) => decode(query as Record<string, unknown>)
}

function bodyReader(schema: z.ZodObject): ReadInput {
  const decode = fieldsDecoder(schema, jsonDecoder)
  return ({ body }) => {
    if (!isRecord(body)) throw new ApiError('invalid_request', `body: ${expected('an object')({ input: body })}`)
    return decode(body)
  }
}

function announceDeprecation(operations: Operation[], baseUrl: string) {
  const deprecation = operations.find(({ meta }) => meta.deprecation)?.meta.deprecation
  if (!deprecation) return []
  const headers = deprecationHeaders(deprecation, baseUrl)
  const announce: onSendHookHandler = (_request, reply, payload, done) => {
    reply.headers(headers)
    done(null, payload)
  }
  return [announce]
}

/** Fastify compiles a serializer from it, which writes a `bigint` as the integer it is. */
function serializationSchema(output: z.ZodType): Record<string, unknown> {
  const { schema, components } = createSchema(output, { io: 'output', schemaRefPath: '#/definitions/' })
  return { ...schema, definitions: components }
}
