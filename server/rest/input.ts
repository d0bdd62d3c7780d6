import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { ApiError } from '../api/errors.ts'
import { parseDigits } from '../api/int64.ts'
import { expected, isRecord } from '../api/validation.ts'
import { type Operation, splitInput, takesBody } from './operations.ts'

type Fields = Record<string, unknown>

/** Gathers the input of an operation: the path parameters, and the fields of the body or the query parameters. */
export function inputReader(operation: Operation): (request: FastifyRequest) => Fields {
  const { inPath, elsewhere } = splitInput(operation)
  const decodePath = fieldsDecoder(inPath, decodeText)
  const decodeQuery = fieldsDecoder(elsewhere, decodeText)
  const decodeBody = fieldsDecoder(elsewhere, decodeJson)
  const hasBody = takesBody(operation)

  return ({ params, query, body }) => {
    const parameters = decodePath(params)
    if (Object.values(parameters).some((value) => value === '' || Number.isNaN(value)))
      throw new ApiError('not_found', 'There is nothing at this path.')
    if (hasBody && !isRecord(body)) {
      throw new ApiError('invalid_request', `body: ${expected('an object')({ input: body })}`)
    }
    return Object.assign(hasBody ? decodeBody(body) : decodeQuery(query), parameters)
  }
}

/** Converts a value to the type that the schema expects. A value that does not fit stays as it is: validation rejects it. */
type Decode = (value: unknown) => unknown

/** Decodes the fields that the schema lists and omits others. */
function fieldsDecoder({ shape }: z.ZodObject, decoderOf: (field: z.core.$ZodType) => Decode) {
  const fields = Object.entries(shape).map(([name, field]) => ({ name, decode: decoderOf(unwrap(field)) }))
  return (values: unknown): Fields => {
    const decoded: Fields = {}
    if (!isRecord(values)) return decoded
    for (const { name, decode } of fields) {
      if (Object.hasOwn(values, name)) decoded[name] = decode(values[name])
    }
    return decoded
  }
}

/** A JSON integer becomes a `bigint` where the schema expects one. */
function decodeJson(schema: z.core.$ZodType): Decode {
  if (!(schema instanceof z.ZodBigInt)) return (value) => value
  return (value) => (typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : value)
}

/**
 * The text of a path or query parameter becomes an integer where the schema expects one, or `NaN` if it is not one. An
 * empty text stays, so that the error says that it is empty.
 */
function decodeText(schema: z.core.$ZodType): Decode {
  const toInteger = schema instanceof z.ZodBigInt ? BigInt : schema instanceof z.ZodNumber ? Number : undefined
  if (!toInteger) return (text) => text
  return (text) => {
    if (typeof text !== 'string' || text === '') return text
    const integer = parseDigits(text)
    return integer === undefined ? Number.NaN : toInteger(integer)
  }
}

function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodDefault ? unwrap(schema.unwrap()) : schema
}
