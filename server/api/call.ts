import { type AnyProcedure, type AnyRouter, TRPCError } from '@trpc/server'
import { z } from 'zod'
import type { Context } from './trpc.ts'

/** Calls a procedure with an input that is yet to be checked. Rejects with what the procedure throws. */
export type Call = (input: unknown, ctx: Context) => Promise<unknown>

type ProcedureType = 'query' | 'mutation' | 'subscription'

/** The part of tRPC's internals that compileProcedure reads. Another version may keep anything else there. */
interface Definition {
  inputs?: unknown
  output?: unknown
  middlewares?: unknown
  resolver?: unknown
  caller?: unknown
}

type Resolver = (options: Options) => unknown

interface Options {
  input: unknown
  ctx: Context
  type: ProcedureType
  path: string
  signal: undefined
  batchIndex: number
}

/**
 * Compiles a procedure to a function that the adapters call. tRPC runs input validation, resolver and output validation as
 * a chain of middlewares and copies its options for each of them, which costs more than all three. A procedure with one
 * input and without middleware needs no chain: its input is validated synchronously and its resolver is called. Its output
 * is not validated if validation would leave it unchanged: TypeScript and the store guarantee its type.
 *
 * @param path the procedure's name in the router, such as `pets.list`
 */
export function compileProcedure(router: AnyRouter, path: string): Call {
  const procedure = (router._def.procedures as Record<string, AnyProcedure>)[path]
  if (!procedure) throw new Error(`The router has no procedure ${path}.`)
  const { type } = procedure._def
  const constant = { type, path, signal: undefined, batchIndex: 0 }
  const callChain: Call = (input, ctx) =>
    procedure({ ...constant, getRawInput: async () => input, ctx, input: undefined })

  const direct = directParts(procedure._def)
  if (!direct) return callChain
  const { schema, resolver } = direct
  return async (input, ctx) => {
    const parsed = parse(schema, input)
    return parsed ? resolver({ ...constant, input: parsed.data, ctx }) : callChain(input, ctx)
  }
}

/** What the chain calls, if it is exactly one input, at most one output that keeps its values, and the resolver. */
function directParts(definition: Definition): { schema: z.ZodType; resolver: Resolver } | undefined {
  const { inputs, output, middlewares, resolver, caller } = definition
  if (!Array.isArray(inputs) || !Array.isArray(middlewares) || caller) return undefined
  const [schema] = inputs
  if (inputs.length !== 1 || !(schema instanceof z.ZodType) || !isResolver(resolver)) return undefined
  const links = middlewares.map(({ _type = 'resolver' }) => _type).sort()
  if (links.join() !== (output ? 'input,output,resolver' : 'input,resolver')) return undefined
  return output && !keepsValues(output) ? undefined : { schema, resolver }
}

function isResolver(value: unknown): value is Resolver {
  return typeof value === 'function'
}

/** Checks that only add issues. Others may write the value: `overwrite`, `superRefine`, `check`, a URL format. */
const readOnlyChecks = [
  z.core.$ZodCheckLessThan,
  z.core.$ZodCheckGreaterThan,
  z.core.$ZodCheckMultipleOf,
  z.core.$ZodCheckMinLength,
  z.core.$ZodCheckMaxLength,
  z.core.$ZodCheckLengthEquals,
  z.core.$ZodCheckRegex,
  z.core.$ZodCheckLowerCase,
  z.core.$ZodCheckUpperCase,
  z.core.$ZodCheckIncludes,
  z.core.$ZodCheckStartsWith,
  z.core.$ZodCheckEndsWith,
]

/**
 * Whether parsing with this schema returns every valid value unchanged, except for fields that the schema does not list.
 * Both adapters write such a value by its schema and so omit these fields. Unknown kinds of schemas and checks are
 * assumed to change values.
 */
export function keepsValues(schema: unknown, parents: unknown[] = []): boolean {
  // A recursive schema cannot be compiled to a writer.
  if (parents.includes(schema)) return false
  if (schema instanceof z.ZodArray) return onlyChecks(schema) && keepsValues(schema.element, [...parents, schema])
  if (schema instanceof z.ZodObject) {
    const fields = Object.entries(schema.shape)
    return (
      onlyChecks(schema) &&
      schema._zod.def.catchall === undefined &&
      // Other names would have to be escaped, and Zod drops __proto__.
      fields.every(([name, field]) => /^(?!__proto__$)\w+$/.test(name) && keepsValues(field, [...parents, schema]))
    )
  }
  if (schema instanceof z.ZodEnum) return onlyChecks(schema)
  const isScalar = schema instanceof z.ZodString || schema instanceof z.ZodBigInt || schema instanceof z.ZodBoolean
  // A refinement gets the value itself, and so can change an array or object but not a scalar.
  return isScalar && !schema._zod.def.coerce && onlyChecks(schema, [...readOnlyChecks, z.core.$ZodCustom])
}

function onlyChecks(schema: z.ZodType, allowed: (new (def: never) => unknown)[] = readOnlyChecks): boolean {
  return (schema._zod.def.checks ?? []).every((check) => allowed.some((kind) => check instanceof kind))
}

/** Returns undefined if Zod cannot parse synchronously. */
function parse(schema: z.ZodType, input: unknown): { data: unknown } | undefined {
  const result = safeParse(schema, input)
  if (result?.error) throw new TRPCError({ code: 'BAD_REQUEST', cause: result.error })
  return result
}

function safeParse(schema: z.ZodType, input: unknown): z.ZodSafeParseResult<unknown> | undefined {
  try {
    return schema.safeParse(input)
  } catch {
    return undefined
  }
}
