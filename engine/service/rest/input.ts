import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { ApiError } from '../api/errors.ts'
import { isTime, parseDigits } from '../api/literals.ts'
import { fieldsIn, innerOf } from '../api/schema.ts'
import { describeIssues, isRecord, mustBe, OtherText } from '../api/validation.ts'
import { needsBody, type Operation, splitInput, takesBody } from './operations.ts'

type Fields = Record<string, unknown>

/** Gathers the fields of the path, and of the body or the query. Throws if a parameter has a type that no text denotes. */
export function inputReader(operation: Operation): (request: FastifyRequest) => Fields {
  const { inPath, elsewhere } = splitInput(operation)
  const hasBody = takesBody(operation)
  const noBody = needsBody(operation) ? undefined : {}
  const decodeParameter = (schema: z.core.$ZodType, name: string) => decodeText(schema, `${name} of ${operation.name}`)
  const decodePath = fieldsDecoder(inPath, decodeParameter)
  const decodeOthers = fieldsDecoder(elsewhere, hasBody ? decodeJson : decodeParameter)

  return ({ params, query, body = noBody }) => {
    const parameters = decodePath(params)
    if (Object.values(parameters).some((value) => value instanceof OtherText))
      throw new ApiError('not_found', 'There is nothing at this path.')
    const given = hasBody ? body : query
    if (given === undefined) throw new ApiError('invalid_request', 'The body is missing.')
    if (!isRecord(given)) throw new ApiError('invalid_request', `body: ${mustBe('an object')({ input: body })}`)
    const others = decodeOthers(given)
    // The caller may mean another row than that of the path. Unknown parameters are ignored, unless the schema is strict.
    const repeated = Object.keys(parameters).find((name) => Object.hasOwn(hasBody ? given : others, name))
    if (repeated !== undefined) throw new ApiError('invalid_request', `${repeated}: expected only in the path`)
    return Object.assign(others, parameters)
  }
}

/**
 * Reads the JSON body of a route of the product's own, as REST reads that of an operation.
 *
 * @throws {ApiError} that is a 400 with the name of each field that breaks the schema
 */
export function readBody<Schema extends z.ZodObject>(schema: Schema, body: unknown): z.output<Schema> {
  const { data, error } = schema.safeParse(decodeJson(schema, 'body')(body))
  if (error) throw new ApiError('invalid_request', describeIssues(error, 'body'), { cause: error })
  return data
}

/** Converts a value to the type that the schema expects. A value that does not fit stays as it is: validation rejects it. */
type Decode = (value: unknown) => unknown

/** Decodes the fields that the schema lists and omits others, unless the schema refuses them. */
function fieldsDecoder({ shape, _zod }: z.ZodObject, decoderOf: (field: z.core.$ZodType, name: string) => Decode) {
  const fields = Object.entries(shape).map(([name, field]) => ({ name, decode: decoderOf(innerOf(field), name) }))
  const isStrict = _zod.def.catchall !== undefined
  return (values: unknown): Fields => {
    if (!isRecord(values)) return {}
    const unknown = isStrict ? Object.keys(values).filter((name) => !Object.hasOwn(shape, name)) : []
    const decoded: Fields = Object.fromEntries(unknown.map((name) => [name, values[name]]))
    for (const { name, decode } of fields) {
      if (Object.hasOwn(values, name)) decoded[name] = decode(values[name])
    }
    return decoded
  }
}

/** JSON integers become `bigint`s, and texts of times `Date`s, where the schema expects one, also in lists and objects. */
export function decodeJson(schema: z.core.$ZodType, name: string, parents: z.core.$ZodType[] = []): Decode {
  if (parents.includes(schema))
    throw new Error(`The field ${name} cannot be served as REST, because it may contain itself.`)
  const decodePart = (part: z.core.$ZodType, partName: string) => decodeJson(part, partName, [...parents, schema])
  if (schema instanceof z.ZodBigInt)
    return (value) => (typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : value)
  if (schema instanceof z.ZodDate) return (value) => (typeof value === 'string' ? decodeTime(value) : value)
  if (schema instanceof z.ZodArray) {
    const decode = decodePart(innerOf(schema.element), name)
    return (value) => (Array.isArray(value) ? value.map(decode) : value)
  }
  if (schema instanceof z.ZodObject) {
    const decode = fieldsDecoder(schema, decodePart)
    return (value) => (isRecord(value) ? decode(value) : value)
  }
  const isConverted = (part: z.core.$ZodType) => part instanceof z.ZodBigInt || part instanceof z.ZodDate
  // A union, a tuple, a record or a transformation.
  if (fieldsIn(schema, isConverted, name).length > 0)
    throw new Error(
      `The field ${name} cannot be served as REST, because it is a ${schema._zod.def.type} with integers or times, which are converted in objects and arrays only.`,
    )
  return (value) => value
}

const decodeTime = (text: string) => (isTime(text) ? new Date(text) : text)

/** What the text of a path or query parameter means, by the type of its schema. What is no integer stays a text. */
const textDecoders: Partial<Record<string, (text: string) => unknown>> = {
  bigint: (text) => parseDigits(text) ?? new OtherText(text),
  int(text) {
    const number = Number(parseDigits(text) ?? Number.NaN)
    return Number.isSafeInteger(number) ? number : new OtherText(text)
  },
  boolean: (text) => (text === 'true' || text === 'false' ? text === 'true' : text),
  date: decodeTime,
  string: (text) => text,
  enum: (text) => text,
  literal: (text) => text,
}

/** An empty text stays, so that the error says that it is empty. So does what is no text: a parameter that is given twice. */
function decodeText(schema: z.core.$ZodType, name: string): Decode {
  const type = schema instanceof z.ZodNumber && schema.isInt ? 'int' : schema._zod.def.type
  const decode = textDecoders[type]
  if (!decode)
    throw new Error(
      `The parameter ${name} cannot be served as REST, because its type is ${type}. Use POST, which has a body.`,
    )
  return (text) => (typeof text === 'string' && text !== '' ? decode(text) : text)
}
