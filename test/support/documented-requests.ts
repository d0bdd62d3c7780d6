import fc from 'fast-check'
import type { oas31 } from 'zod-openapi'
import type { Schema } from './documented-schemas.ts'
import { oddTexts, type ValueGenerator } from './documented-values.ts'

/** Generates requests from the operations of an OpenAPI document. */

export interface DocumentedOperation {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  path: string
  parameters: oas31.ParameterObject[]
  /** The schema of the JSON body, if the operation has one. */
  bodySchema: Schema | undefined
  bodyExample: unknown
  responses: Record<string, oas31.ResponseObject>
  deprecated: boolean
}

export interface GeneratedRequest {
  /** The texts that are sent for each parameter: none, one or several. */
  texts: string[][]
  body: unknown
  hasKey: boolean
  /** The spelling of the integers in the body. */
  spelling: number
}

export function operationsIn({ paths = {} }: Pick<oas31.OpenAPIObject, 'paths'>): DocumentedOperation[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item as Record<string, oas31.OperationObject>).map(([method, operation]) => ({
      method: method.toUpperCase() as DocumentedOperation['method'],
      path,
      // The document refers only to schemas.
      parameters: (operation.parameters ?? []) as oas31.ParameterObject[],
      bodySchema: bodyOf(operation)?.schema,
      bodyExample: bodyOf(operation)?.example,
      responses: operation.responses as Record<string, oas31.ResponseObject>,
      deprecated: operation.deprecated ?? false,
    })),
  )
}

function bodyOf({ requestBody }: oas31.OperationObject): oas31.MediaTypeObject | undefined {
  // The document refers only to schemas.
  return (requestBody as oas31.RequestBodyObject | undefined)?.content['application/json']
}

/** Mostly valid requests, some with a few faults. */
export function anyRequest(
  { parameters, bodySchema }: DocumentedOperation,
  values: ValueGenerator,
): fc.Arbitrary<GeneratedRequest> {
  return fc.record({
    texts: fc.tuple(...parameters.map((parameter) => textsFor(parameter, values))),
    body: bodySchema ? values.nearlyValid(bodySchema) : fc.constant(undefined),
    hasKey: often(fc.constant(true), fc.boolean()),
    spelling: often(fc.constant(0), fc.nat(3)),
  })
}

/** A valid request, and requests that differ from it in one parameter or field. Its value is at a bound or beyond. */
export function requestsAtBounds(
  { parameters, bodySchema }: DocumentedOperation,
  values: ValueGenerator,
): GeneratedRequest[] {
  const texts = parameters.map(({ required, schema = {} }) =>
    required ? fc.sample(values.valid(schema), { seed: 1, numRuns: 1 }).map(String) : [],
  )
  const [body, ...bodies] = bodySchema ? values.atBounds(bodySchema) : [undefined]
  const usual = { texts, body, hasKey: true, spelling: 0 }
  const ofParameters = parameters.flatMap(({ schema = {}, in: place }, index) => {
    const single = [...values.atBounds(schema).map(String), ...oddTexts].filter((text) => canStand(place, text))
    const all = [...single.map((text) => [text]), ...(place === 'query' ? [['1', '1']] : [])]
    return all.map((each) => ({ ...usual, texts: texts.with(index, each) }))
  })
  return [usual, { ...usual, hasKey: false }, ...ofParameters, ...bodies.map((each) => ({ ...usual, body: each }))]
}

function textsFor(
  { in: place, required = false, schema = {} }: oas31.ParameterObject,
  values: ValueGenerator,
): fc.Arbitrary<string[]> {
  const odd = fc.oneof(
    fc.constantFrom(...values.atBounds(schema)).map(String),
    fc.constantFrom(...oddTexts),
    fc.string({ unit: 'binary' }),
  )
  const text = fc
    .oneof({ weight: 2, arbitrary: values.valid(schema).map(String) }, { weight: 1, arbitrary: odd })
    .filter((each) => canStand(place, each))
  if (place === 'path') return text.map((each) => [each])
  const once = fc.array(text, { minLength: required ? 1 : 0, maxLength: 1 })
  if (place === 'header') return once
  if (place === 'query') return often(once, fc.array(text, { maxLength: 3 }))
  throw new Error(`Teach the generator what a parameter in ${place} is.`)
}

/** Usually a value of the first arbitrary, sometimes of the second. */
export function often<T>(usual: fc.Arbitrary<T>, unusual: fc.Arbitrary<T>): fc.Arbitrary<T> {
  return fc.oneof({ weight: 9, arbitrary: usual }, { weight: 1, arbitrary: unusual })
}

/** Whether a client can send this text in the header, path or query (RFC 9110, section 5.5; RFC 3986, section 3.3). */
function canStand(place: string, text: string): boolean {
  if (place === 'header') return /^[\x20-\x7e]*$/.test(text) && text === text.trim()
  return text.isWellFormed() && (place !== 'path' || !/^\.{0,2}$/.test(text))
}
