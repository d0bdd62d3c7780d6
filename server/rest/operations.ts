import type { AnyRouter } from '@trpc/server'
import { forEachOpenApiProcedure, getInputOutputParsers, type OpenApiProcedure } from 'trpc-to-openapi'
import { z } from 'zod'
import type { RestMeta } from '../api/rest-meta.ts'

/** A procedure with what the REST door needs to know of it. */
export interface Operation {
  /** The procedure's name in the router, such as `pets.list`. */
  procedure: string
  type: 'query' | 'mutation'
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  /** Below the base address, with parameters in braces: `/pets/{petId}`. */
  path: `/${string}`
  meta: RestMeta
  input: z.ZodObject
  output: z.ZodType
}

/** Every procedure of the router that carries `meta.openapi`. */
export function operationsOf(router: AnyRouter): Operation[] {
  const operations: Operation[] = []
  // Both packages describe the same procedures; the types they give them differ in name only.
  const procedures = router._def.procedures as unknown as Record<string, OpenApiProcedure>
  forEachOpenApiProcedure<RestMeta>(procedures, ({ path, type, procedure, meta }) => {
    const { inputParser, outputParser } = getInputOutputParsers(procedure)
    if (type === 'subscription' || !outputParser)
      throw new Error(`${path} cannot be served as REST: it needs an output and must not be a subscription.`)
    operations.push({
      procedure: path,
      type,
      method: meta.openapi.method,
      path: meta.openapi.path,
      meta,
      input: objectIn(inputParser),
      output: outputParser,
    })
  })
  return operations
}

/** POST creates: it answers 201, and `Location` names what was made. */
export function successStatus({ method }: Operation): 200 | 201 {
  return method === 'POST' ? 201 : 200
}

/** Whether the input comes in the body, as opposed to the query. */
export function takesBody({ method }: Operation): boolean {
  return method !== 'GET' && method !== 'DELETE'
}

/** Splits the input into the fields that are in the path, and those in the body or query. */
export function splitInput({ input, path }: Operation): { inPath: z.ZodObject; elsewhere: z.ZodObject } {
  const pick = (isWanted: (name: string) => boolean) =>
    z.object(Object.fromEntries(Object.entries(input.shape).filter(([name]) => isWanted(name))))
  const isInPath = (name: string) => path.includes(`{${name}}`)
  return { inPath: pick(isInPath), elsewhere: pick((name) => !isInPath(name)) }
}

function objectIn(schema: z.ZodType): z.ZodObject {
  if (schema instanceof z.ZodPrefault) return objectIn(schema.unwrap() as z.ZodType)
  if (schema instanceof z.ZodObject) return schema
  throw new Error('The input of a procedure with meta.openapi must be an object.')
}
