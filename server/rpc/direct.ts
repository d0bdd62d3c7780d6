import type { AnyProcedure, AnyRouter } from '@trpc/server'
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { type Call, compileProcedure } from '../api/call.ts'
import { isRecord } from '../api/validation.ts'
import { superjsonWriter, type Write } from './superjson-writer.ts'

/** A procedure, ready to be called. */
interface Target {
  /** In the router, such as `pets.list`. */
  path: string
  type: 'query' | 'mutation' | 'subscription'
  call: Call
  write: Write
}

export interface DirectCall extends Target {
  input: unknown
}

/** The most calls that may share one HTTP request. */
export const maxBatchSize = 20

/**
 * Whether tRPC's clients send such requests only when they are told to: for an answer in pieces, a batch that is too large
 * or changes something, nothing in the body.
 */
export function isUnusual({ method, params, query, headers, body }: FastifyRequest): boolean {
  const { path } = params as { path: string }
  const { connectionParams, batch } = query as Record<string, unknown>
  const isStreamed = headers['trpc-accept'] !== undefined || headers.accept?.includes('jsonl')
  const isUnusualBatch = isBatch(query) && (method !== 'GET' || path.split(',').length > maxBatchSize)
  const isEmpty = method === 'POST' && body === undefined
  const isOddBatch = batch !== undefined && !isBatch(query)
  return isStreamed || isUnusualBatch || isOddBatch || isEmpty || connectionParams !== undefined
}

export function isBatch(query: unknown): boolean {
  return (query as Record<string, unknown>).batch === '1'
}

/**
 * Makes what reads the calls of a usual request (https://trpc.io/docs/rpc): queries by GET, also as a batch, or a mutation
 * by POST. It returns undefined if there is any fault in them.
 */
export function callReader(router: AnyRouter): (request: FastifyRequest) => DirectCall[] | undefined {
  const targets = targetsOf(router)
  const { deserialize } = router._def._config.transformer.input

  function readCall(path: string, type: string, serialized: unknown): DirectCall {
    const target = targets.get(path)
    if (target?.type !== type) throw new TypeError(`${path} is no ${type}.`)
    return { ...target, input: serialized === undefined ? undefined : deserialize(serialized) }
  }

  return ({ method, params, query, body }) => {
    const { path } = params as { path: string }
    const { input } = query as Record<string, unknown>
    const [type, text] = method === 'GET' ? ['query', input] : ['mutation', body]
    try {
      if (!isBatch(query)) return [readCall(path, type, parse(text))]
      const inputs = parse(text) ?? {}
      if (!isRecord(inputs)) return undefined
      return path.split(',').map((name, index) => readCall(name, type, inputs[index]))
    } catch {
      return undefined
    }
  }
}

function parse(text: unknown): unknown {
  if (text === undefined || text === '') return undefined
  if (typeof text !== 'string') throw new TypeError('The input is given twice.')
  return JSON.parse(text)
}

function targetsOf(router: AnyRouter): Map<string, Target> {
  const procedures = Object.entries(router._def.procedures as Record<string, AnyProcedure>)
  return new Map(
    procedures.map(([path, { _def }]) => {
      const { output } = _def as unknown as { output?: unknown }
      const write = superjsonWriter(output instanceof z.ZodType ? output : undefined)
      return [path, { path, type: _def.type, call: compileProcedure(router, path), write }]
    }),
  )
}
