import { type AnyProcedure, type AnyRouter, callTRPCProcedure, TRPCError } from '@trpc/server'
import { z } from 'zod'
import { keepsValues } from '../api/output.ts'
import type { Context, Guard, MutationMeta, ProcedureMeta } from './trpc.ts'

/**
 * Reads the procedures of a router, for the adapters and the documents. It makes a `call` of each, which validates the input
 * and runs the resolver. Most calls bypass tRPC's chain of middlewares: see {@link compileCall}.
 */

/** Calls a procedure with an input that is not validated yet. Rejects with what the procedure throws. */
export type Call = (input: unknown, ctx: Context) => Promise<unknown>

type ProcedureType = 'query' | 'mutation' | 'subscription'

export interface Procedure {
  /** The name in the router: `<resource>.<procedure>`. */
  name: string
  type: ProcedureType
  meta: ProcedureMeta
  inputs: unknown[]
  output: z.ZodType | undefined
  /** Whether it gets the `Idempotency-Key` of the request (`meta.idempotencyKey`). */
  replays: boolean
  /** Whether `call` bypasses tRPC's middleware chain. */
  isDirect: boolean
  call: Call
}

/** The private fields of tRPC that this module reads. They are `unknown`, because another version may change them. */
type TrpcDefinition = { meta: ProcedureMeta } & Partial<
  Record<'inputs' | 'output' | 'middlewares' | 'resolver', unknown>
>

type Resolver = (options: object) => unknown

/** This module alone reads tRPC's private fields. Throws if a procedure breaks a rule of its metadata. */
export function proceduresOf(router: AnyRouter): Procedure[] {
  // AnyRouter types this record as `any`.
  const procedures = Object.entries(router._def.procedures as Record<string, AnyProcedure>)
  return procedures.map(([name, { _def }]) => {
    const { type } = _def
    // The `router` function of trpc.ts, which builds every router, types the metadata.
    const meta = (_def.meta ?? {}) as ProcedureMeta & Partial<MutationMeta>
    // Otherwise a key that may only read could get a cached response, or a mutation would not run.
    if (meta.cache && (meta.access || type !== 'query'))
      throw new Error(`${name}: only a query without meta.access can have meta.cache.`)
    // Otherwise it would lack the guard that refuses keys that may only read.
    if (type === 'mutation' && !meta.idempotencyKey) throw new Error(`${name}: begin a mutation with mutation().`)
    const definition: TrpcDefinition = { ..._def, meta }
    const { inputs, output } = definition
    const { isDirect, call } = compileCall(router, name, type, definition)
    return {
      name,
      type,
      meta,
      inputs: Array.isArray(inputs) ? inputs : [],
      output: output instanceof z.ZodType ? output : undefined,
      replays: meta.idempotencyKey === 'replays',
      isDirect,
      call,
    }
  })
}

/**
 * tRPC runs guard, input validation, resolver and output validation as a chain of middlewares and copies its options for each
 * of them, which takes 30 times as long as all four. If the chain holds nothing else, `call` runs the first three itself. It
 * skips output validation, which would leave the output unchanged: TypeScript and the store guarantee its type.
 */
function compileCall(router: AnyRouter, path: string, type: ProcedureType, definition: TrpcDefinition) {
  const constant = { type, path, signal: undefined, batchIndex: 0 }
  const callChain: Call = (input, ctx) =>
    callTRPCProcedure({ ...constant, router, ctx, getRawInput: async () => input })

  const parts = directParts(definition)
  if (!parts) return { isDirect: false, call: callChain }
  const { guard, schema, resolver } = parts
  const call: Call = async (input, ctx) => {
    const next = async ({ ctx }: { ctx: Context }) => {
      const parsed = schema && (parse(schema, input) ?? (await schema.safeParseAsync(input)))
      if (parsed?.error) throw new TRPCError({ code: 'BAD_REQUEST', cause: parsed.error })
      return { ok: true, data: await resolver({ ...constant, input: parsed?.data, ctx }) }
    }
    const { data } = await guard({ ctx, path, meta: definition.meta, next })
    return data
  }
  return { isDirect: true, call }
}

/** Undefined unless the chain is the guard, at most one input, at most one output that keeps its values, and the resolver. */
function directParts({ inputs, output, middlewares, resolver }: TrpcDefinition) {
  if (!Array.isArray(inputs) || !Array.isArray(middlewares) || typeof resolver !== 'function') return undefined
  const [schema] = inputs
  if (inputs.length > 1 || (schema && !(schema instanceof z.ZodType))) return undefined
  const [guard, ...others] = middlewares
  const expected = [...(schema ? ['input'] : []), ...(output ? ['output'] : []), 'resolver']
  const links = others.map(({ _type = 'resolver' }) => _type).sort()
  if (!guard?.isGuard || links.join() !== expected.join() || (output && !keepsValues(output))) return undefined
  return { guard: guard as Guard, schema: schema as z.ZodType | undefined, resolver: resolver as Resolver }
}

/** Returns undefined if Zod cannot parse synchronously. */
function parse(schema: z.ZodType, input: unknown): z.ZodSafeParseResult<unknown> | undefined {
  try {
    return schema.safeParse(input)
  } catch {
    return undefined
  }
}
