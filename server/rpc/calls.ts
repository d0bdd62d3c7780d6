import type { AnyRouter } from '@trpc/server'
import type { FastifyRequest } from 'fastify'
import { type Procedure, proceduresOf } from '../api/procedures.ts'
import { isRecord } from '../api/validation.ts'
import type { RequestLabels } from '../http/request-labels.ts'
import { compileWriter, type Write, writeAnything } from './superjson-writer.ts'

/** A procedure, an input that is not validated yet, and a serializer of the output. */
export interface RpcCall extends Procedure {
  input: unknown
  write: Write
}

/** Fastify parses the query to an object. */
export interface RpcRoute {
  Params: { path: string }
  Querystring: Record<string, unknown>
}

export type RpcRequest = FastifyRequest<RpcRoute>

export const maxBatchSize = 20

export interface CallReader {
  /** The names in the path of a request. The first ones, because the path can be longer than any batch that is served. */
  names(path: string): string[]
  /** Whether both adapters cache the response. */
  isCacheable(request: RpcRequest): boolean
  /** Returns undefined for a request that only tRPC's own handler can process: an error, or a rarely used feature. */
  read(request: RpcRequest): RpcCall[] | undefined
  /** The procedure of a single call, else `batch` or `unknown`. */
  labelsOf(path: string): RequestLabels
}

const batchLabels: RequestLabels = { adapter: 'rpc', operation: 'batch' }
const unknownLabels: RequestLabels = { adapter: 'rpc', operation: 'unknown' }

/** Reads the calls of a request (https://trpc.io/docs/rpc): queries by GET, single or as a batch, or a mutation by POST. */
export function callReader(router: AnyRouter): CallReader {
  const procedures = new Map(
    proceduresOf(router).map((procedure) => [
      procedure.name,
      { ...procedure, write: compileWriter(procedure.output) ?? writeAnything },
    ]),
  )
  const labels = new Map<string, RequestLabels>(
    [...procedures.keys()].map((name) => [name, { adapter: 'rpc', operation: name }]),
  )
  const { deserialize } = router._def._config.transformer.input

  function readCall(name: string, type: string, serialized: unknown): RpcCall {
    const procedure = procedures.get(name)
    if (procedure?.type !== type) throw new TypeError(`${name} is not a ${type}.`)
    return { ...procedure, input: serialized === undefined ? undefined : deserialize(serialized) }
  }

  return {
    names: (path) => path.split(',', maxBatchSize).map((name) => (procedures.has(name) ? name : 'unknown')),
    isCacheable: (request) =>
      request.method === 'GET' &&
      request.params.path.split(',').every((name) => procedures.get(name)?.isCacheable) &&
      !needsTrpcHandler(request),
    read(request) {
      if (needsTrpcHandler(request)) return undefined
      const { method, params, query, body } = request
      const { path } = params
      const [type, text] = method === 'GET' ? ['query', query.input] : ['mutation', body]
      try {
        if (!isBatch(query)) return [readCall(path, type, parse(text))]
        const inputs = parse(text) ?? {}
        if (!isRecord(inputs)) return undefined
        return path.split(',').map((name, index) => readCall(name, type, inputs[index]))
      } catch {
        return undefined
      }
    },
    labelsOf: (path) => labels.get(path) ?? (path.includes(',') ? batchLabels : unknownLabels),
  }
}

/**
 * Whether only tRPC's own handler can process the request: it is streamed, a batch of mutations or of too many calls, has
 * no body, or has connection parameters.
 */
function needsTrpcHandler({ method, params, query, headers, body }: RpcRequest): boolean {
  if (headers['trpc-accept'] !== undefined || headers.accept?.includes('jsonl')) return true
  if (query.connectionParams !== undefined || (method === 'POST' && body === undefined)) return true
  if (isBatch(query)) return method !== 'GET' || params.path.split(',').length > maxBatchSize
  return query.batch !== undefined
}

export function isBatch({ batch }: RpcRoute['Querystring']): boolean {
  return batch === '1'
}

function parse(text: unknown): unknown {
  if (text === undefined || text === '') return undefined
  if (typeof text !== 'string') throw new TypeError('The query has more than one input.')
  return JSON.parse(text)
}
