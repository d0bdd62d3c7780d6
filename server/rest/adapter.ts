import { type AnyRouter, callTRPCProcedure } from '@trpc/server'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { createSchema } from 'zod-openapi'
import { acceptJsonOnly } from '../body.ts'
import { ApiError } from '../errors.ts'
import { parseJson } from '../int64.ts'
import { answerOtherMethods, refuseUnknownPaths } from '../routes.ts'
import type { CreateContext } from '../trpc.ts'
import { expected } from '../validation.ts'
import { decodeFields, decodeJson, decodeText, isRecord } from './decode.ts'
import { deprecationHeaders } from './deprecation.ts'
import { type Operation, operationsOf, successStatus, takesBody } from './operations.ts'
import { nextLink } from './paging.ts'

interface RestDoorOptions {
  router: AnyRouter
  createContext: CreateContext
}

/** The REST door: one route for each procedure that carries `meta.openapi`, below the prefix it is registered with. */
export async function restDoor(app: FastifyInstance, { router, createContext }: RestDoorOptions): Promise<void> {
  acceptJsonOnly(app, parseJson)
  refuseUnknownPaths(app)
  for (const [path, operations] of Map.groupBy(operationsOf(router), ({ path }) => path)) {
    const url = path.replaceAll(/\{(\w+)\}/g, ':$1')
    const onSend = announceDeprecation(operations, app.prefix)
    for (const operation of operations) {
      app.route({
        url,
        method: operation.method,
        schema: { response: { [successStatus(operation)]: serializationSchema(operation.output) } },
        onSend,
        handler: handlerFor(operation, router, createContext, app.prefix),
      })
    }
    const methods = operations.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
    answerOtherMethods(app, url, methods, { onSend })
  }
}

function handlerFor(operation: Operation, router: AnyRouter, createContext: CreateContext, baseUrl: string) {
  const read = inputReader(operation)
  const next = nextLink(operation, baseUrl)
  const status = successStatus(operation)

  return async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const input = read(request)
    const output = await callTRPCProcedure({
      router,
      path: operation.procedure,
      type: operation.type,
      getRawInput: async () => input,
      ctx: createContext(request, reply),
      signal: undefined,
      batchIndex: 0,
    })
    reply.code(status)
    if (status === 201) reply.header('location', `${baseUrl}${operation.path}/${output.id}`)
    const link = next?.(input, output)
    if (link) reply.header('link', link)
    return output
  }
}

type ReadInput = (request: FastifyRequest) => Record<string, unknown>

/** Gathers a procedure's input from where the method keeps it: the path, and the body or else the query. */
function inputReader(operation: Operation): ReadInput {
  const { input, path } = operation
  const [inPath, elsewhere] = splitFields(input, (name) => path.includes(`{${name}}`))
  const readRest = takesBody(operation)
    ? ({ body }: FastifyRequest) => readBody(elsewhere, body)
    : ({ query }: FastifyRequest) => decodeFields(elsewhere, query as Record<string, unknown>, decodeText)

  return (request) => {
    const parameters = decodeFields(inPath, request.params as Record<string, unknown>, decodeText)
    if (Object.values(parameters).some(Number.isNaN)) throw new ApiError('not_found', 'There is nothing at this path.')
    return { ...readRest(request), ...parameters }
  }
}

function readBody(schema: z.ZodObject, body: unknown): Record<string, unknown> {
  if (!isRecord(body)) throw new ApiError('invalid_request', `body: ${expected('an object')({ input: body })}`)
  return decodeFields(schema, body, decodeJson)
}

function splitFields({ shape }: z.ZodObject, belongs: (name: string) => boolean): [z.ZodObject, z.ZodObject] {
  const fields = Object.entries(shape)
  return [
    z.object(Object.fromEntries(fields.filter(([name]) => belongs(name)))),
    z.object(Object.fromEntries(fields.filter(([name]) => !belongs(name)))),
  ]
}

function announceDeprecation(operations: Operation[], baseUrl: string) {
  const deprecation = operations.find(({ meta }) => meta.deprecation)?.meta.deprecation
  if (!deprecation) return []
  const headers = deprecationHeaders(deprecation, baseUrl)
  return [async (_request: FastifyRequest, reply: FastifyReply) => void reply.headers(headers)]
}

/** Fastify compiles a serializer from it, which writes a `bigint` as the integer it is. */
function serializationSchema(output: z.ZodType): Record<string, unknown> {
  const { schema, components } = createSchema(output, { io: 'output', schemaRefPath: '#/definitions/' })
  return { ...schema, definitions: components }
}
