import type { AnyRouter } from '@trpc/server'
import type { FastifyRequest } from 'fastify'
import { ApiError, explainUnreadable } from '../api/errors.ts'
import { superjsonWriter } from '../api/output.ts'
import { isRecord } from '../api/validation.ts'
import type { RequestLabels } from '../http/request.ts'
import { proceduresOf } from '../procedures/procedures.ts'
import { decodeSuperjson } from '../procedures/superjson-input.ts'
import type { Context } from '../procedures/trpc.ts'

export interface RpcCall {
  /** The name of the procedure, also of one that does not exist. */
  name: string
  /** Whether it needs an `Idempotency-Key`. */
  replays: boolean
  /** Returns the output as superjson. Rejects with what the procedure throws, or if it cannot be called. */
  run(ctx: Context): Promise<string>
}

/** Fastify parses the query to an object. */
export interface RpcRoute {
  Params: { path: string }
  Querystring: Record<string, unknown>
}

export type RpcRequest = FastifyRequest<RpcRoute>

export const maxBatchSize = 20

/** The path below the prefix. Empty without a route: the only route of the adapter has the parameter `path`. */
export function pathOf({ params }: FastifyRequest): string {
  return (params as Partial<RpcRoute['Params']>).path ?? ''
}

export function namesIn(path: string): string[] {
  return path.split(',')
}

const adapter = 'rpc'
const batchLabels: RequestLabels = { adapter, operation: 'batch' }
const unknownLabels: RequestLabels = { adapter, operation: 'unknown' }

/** Reads the calls of a request (https://trpc.io/docs/rpc): queries by GET or HEAD, mutations by POST. */
export function callReader(router: AnyRouter) {
  const procedures = new Map(
    proceduresOf(router).map((procedure) => [
      procedure.name,
      {
        ...procedure,
        labels: { adapter, operation: procedure.name } satisfies RequestLabels,
        methods: procedure.type === 'query' ? ['GET', 'HEAD'] : ['POST'],
        write: superjsonWriter(procedure.output),
      },
    ]),
  )

  function callOf(name: string, method: string, serialized: unknown): RpcCall {
    return {
      name,
      replays: procedures.get(name)?.replays ?? false,
      async run(ctx) {
        const procedure = procedures.get(name)
        if (!procedure) throw new ApiError('not_found', 'There is no such procedure.')
        const { type, methods, call, write } = procedure
        if (!methods.includes(method)) {
          const allow = methods.join(', ')
          throw new ApiError('method_not_allowed', `${name} is a ${type}. Use ${allow}.`, { headers: { allow } })
        }
        const output = await call(serialized === undefined ? undefined : decodeSuperjson(serialized), ctx)
        try {
          return write(output)
        } catch (error) {
          throw explainUnreadable(procedure.output, output, error)
        }
      },
    }
  }

  return {
    /** The names in the path of a request. The first ones, because the path can be longer than any batch that is served. */
    names: (path: string) => path.split(',', maxBatchSize).map((name) => (procedures.has(name) ? name : 'unknown')),
    /** Whether both adapters cache the response. */
    isCacheable: ({ method, params }: RpcRequest) =>
      method !== 'POST' && namesIn(params.path).every((name) => procedures.get(name)?.meta.cache),
    /** The calls of a request. Whether a procedure exists and its input is valid is checked when a call runs. */
    read(request: RpcRequest): RpcCall[] {
      const { method, params, query } = request
      const names = isBatch(query) ? namesIn(params.path) : [params.path]
      if (names.length > maxBatchSize) throw invalid(`A batch has at most ${maxBatchSize} calls.`)
      const input = readInput(request)
      const inputs: Record<number, unknown> = isBatch(query) ? inputsOfBatch(input, names.length) : [input]
      return names.map((name, index) => callOf(name, method, inputs[index]))
    },
    /** The procedure of a single call, else `batch` or `unknown`. */
    labelsOf: (path: string) => procedures.get(path)?.labels ?? (path.includes(',') ? batchLabels : unknownLabels),
  }
}

export function isBatch({ batch }: RpcRoute['Querystring']): boolean {
  if (batch !== undefined && batch !== '1') throw invalid('batch: expected 1, once, or no such parameter')
  return batch === '1'
}

function readInput({ method, query, body }: RpcRequest): unknown {
  const text = method === 'POST' ? body : query.input
  if (text === undefined || text === '') return undefined
  if (typeof text !== 'string') throw invalid('input: expected one parameter, got several')
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw invalid('The input is not valid JSON.', cause)
  }
}

/** The inputs of the calls by their positions: `{"0": …, "1": …}`. A call without an input has no entry. */
function inputsOfBatch(input: unknown, calls: number): Record<string, unknown> {
  if (input === undefined) return {}
  const positions = Array.from({ length: calls }, (_, index) => String(index))
  if (isRecord(input) && Object.keys(input).every((key) => positions.includes(key))) return input
  throw invalid(`The input of this batch must be an object whose only names are ${positions.join(', ')}.`)
}

function invalid(message: string, cause?: unknown): ApiError {
  return new ApiError('invalid_request', message, { cause })
}
