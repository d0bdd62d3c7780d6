import { type AnyProcedure, type AnyRouter, TRPCError } from '@trpc/server'
import { z } from 'zod'
import type { Context } from './trpc.ts'

/** Calls a procedure with an input that is yet to be checked. Rejects with what the procedure throws. */
export type Call = (input: unknown, ctx: Context) => Promise<unknown>

type ProcedureType = 'query' | 'mutation' | 'subscription'

/** What a builder leaves in a procedure, of which tRPC's types show a part. */
interface Definition {
  inputs: unknown[]
  output?: unknown
  middlewares: unknown[]
  resolver?: (options: Options) => unknown
}

interface Options {
  input: unknown
  ctx: Context
  type: ProcedureType
  path: string
  signal: undefined
  batchIndex: number
}

/**
 * Makes of a procedure what a door calls. tRPC runs the check of the input, the resolver and the check of the output as a
 * chain of middlewares and copies its options for each of them, which costs more than all three. A procedure that has no
 * middleware of its own needs no chain: its input is checked, at once and not in promises, and its resolver is called. What
 * it returns is not checked again, since the compiler and the store answer for it, unless the check would change it.
 *
 * @param path the procedure's name in the router, such as `pets.list`
 */
export function compileProcedure(router: AnyRouter, path: string): Call {
  const procedure = (router._def.procedures as Record<string, AnyProcedure>)[path]
  if (!procedure) throw new Error(`The router has no procedure ${path}.`)
  const { type } = procedure._def
  const constant = { type, path, signal: undefined, batchIndex: 0 }
  const { inputs, output, middlewares, resolver } = procedure._def as unknown as Definition
  const [schema] = inputs
  const links = inputs.length + (output ? 1 : 0) + 1
  const isPlain = middlewares.length === links && inputs.length === 1 && (!output || changesNothing(output))
  if (!resolver || !isPlain || !(schema instanceof z.ZodType)) {
    return (input, ctx) => procedure({ ...constant, getRawInput: async () => input, ctx, input: undefined })
  }
  return async (input, ctx) => resolver({ ...constant, input: parse(schema, input), ctx })
}

/** Whether a value that the schema accepts comes out of it as it is, but for fields that the doors do not send anyway. */
function changesNothing(schema: unknown): boolean {
  if (schema instanceof z.ZodArray) return changesNothing(schema.element)
  if (schema instanceof z.ZodObject) return Object.values(schema.shape).every(changesNothing)
  const isScalar = schema instanceof z.ZodString || schema instanceof z.ZodBigInt || schema instanceof z.ZodBoolean
  if (!isScalar) return schema instanceof z.ZodEnum
  // Such as those that trim.
  return (schema._zod.def.checks ?? []).every((check) => check._zod.def.check !== 'overwrite')
}

function parse(schema: z.ZodType, input: unknown): unknown {
  const { success, data, error } = schema.safeParse(input)
  if (!success) throw new TRPCError({ code: 'BAD_REQUEST', cause: error })
  return data
}
