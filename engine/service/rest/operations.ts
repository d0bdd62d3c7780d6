import type { AnyRouter } from '@trpc/server'
import { z } from 'zod'
import { innerOf } from '../api/schema.ts'
import { type Procedure, proceduresOf } from '../procedures/procedures.ts'

/** A procedure with `meta.openapi`. */
export interface Operation extends Procedure {
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  /** The path relative to the base address, with parameters in braces: `/items/{id}`. */
  path: `/${string}`
  input: z.ZodObject
  output: z.ZodType
  /** Whether a GET operation reads what this one creates: at the same path, followed by the id. */
  hasLocation: boolean
}

export function operationsOf(router: AnyRouter): Operation[] {
  const procedures = proceduresOf(router)
  const readable = procedures.flatMap(({ meta }) => (meta.openapi?.method === 'GET' ? shapeOf(meta.openapi.path) : []))
  return procedures.flatMap((procedure) => {
    const { name, type, meta, output } = procedure
    if (!meta.openapi) return []
    const { method, path } = meta.openapi
    const inputs = method === 'DELETE' ? procedure.inputs.map(withoutExpected) : procedure.inputs
    if (!output || type === 'subscription')
      throw new Error(`${name} cannot be served as REST: it needs an output and must not be a subscription.`)
    if ((type === 'query') !== (method === 'GET'))
      throw new Error(`${name} cannot be served as REST: a query needs the method GET, a mutation another one.`)
    const input = objectIn(name, inputs)
    const lacking = [...path.matchAll(/\{(\w+)\}/g)].find(([, field = '']) => !(field in input.shape))
    if (lacking)
      throw new Error(`${name} cannot be served as REST: its input lacks ${lacking[1]}, which is in the path.`)
    if (needsBody({ method, path, input }) && input.meta()?.id === undefined)
      throw new Error(`${name} cannot be served as REST: its body needs a name. Give its input an id with meta().`)
    const hasId = output instanceof z.ZodObject && 'id' in output.shape
    const hasLocation = meta.creates !== undefined && hasId && readable.includes(`${shapeOf(path)}/{}`)
    return [{ ...procedure, inputs, method, path, input, output, hasLocation }]
  })
}

/** The path without the names of its parameters, which may differ between operations. */
function shapeOf(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, '{}')
}

/** Whether its pages are linked: by the id of the last item. A search says in its body where it continues. */
export function isPaged({ input, output }: Operation): boolean {
  const element = output instanceof z.ZodArray ? output.element : undefined
  const hasId = element instanceof z.ZodObject && 'id' in element.shape
  return hasId && ['cursor', 'limit'].every((name) => name in input.shape)
}

export function successStatus({ meta }: Operation): 200 | 201 {
  return meta.creates === undefined ? 200 : 201
}

/** Whether the request has a body. Otherwise the input is in the query. */
export function takesBody({ method }: Pick<Operation, 'method'>): boolean {
  return method !== 'GET' && method !== 'DELETE'
}

type Endpoint = Pick<Operation, 'method' | 'path' | 'input'>

/** Whether a field of the input can be in the body only. */
export function needsBody(endpoint: Endpoint): boolean {
  return takesBody(endpoint) && Object.keys(splitInput(endpoint).elsewhere.shape).length > 0
}

/** Splits the input into the fields in the path and the fields in the body or query. */
export function splitInput({ input, path }: Pick<Endpoint, 'path' | 'input'>): {
  inPath: z.ZodObject
  elsewhere: z.ZodObject
} {
  const isInPath = (name: string) => path.includes(`{${name}}`)
  return { inPath: pick(input, isInPath), elsewhere: pick(input, (name) => !isInPath(name)) }
}

function pick(input: z.ZodObject, isWanted: (name: string) => boolean): z.ZodObject {
  const { catchall } = input._zod.def
  const part = z.object(Object.fromEntries(Object.entries(input.shape).filter(([name]) => isWanted(name))))
  return catchall ? part.catchall(catchall) : part
}

/** The input of a removal by DELETE, which has no body that could hold what the caller has seen. */
function withoutExpected(input: unknown): unknown {
  if (!(input instanceof z.ZodObject) || !input.shape.expected) return input
  return innerOf(input.shape.expected) instanceof z.ZodObject ? pick(input, (name) => name !== 'expected') : input
}

function objectIn(name: string, [input = z.object({}), ...more]: unknown[]): z.ZodObject {
  const inner = input instanceof z.ZodPrefault ? input.unwrap() : input
  if (inner instanceof z.ZodObject && more.length === 0) return inner
  throw new Error(`${name} cannot be served as REST: it needs one input, which must be an object.`)
}
