import { z } from 'zod'
import { parseDigits } from '../api/int64.ts'

/** Gives a value the type that its schema expects. Whatever does not fit is left as it came, for the schema to refuse. */
export type Decode = (value: unknown) => unknown

/** For a field of a JSON body, where JSON has no such type: an integer becomes a `bigint`. */
export function jsonDecoder(schema: z.core.$ZodType): Decode {
  if (!(unwrap(schema) instanceof z.ZodBigInt)) return (value) => value
  return (value) => (typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : value)
}

/** For the text of a path or query parameter. A text that is no integer where one is expected becomes `NaN`. */
export function textDecoder(schema: z.core.$ZodType): Decode {
  const inner = unwrap(schema)
  if (inner instanceof z.ZodBigInt)
    return (text) => (typeof text === 'string' ? (parseDigits(text) ?? Number.NaN) : text)
  if (inner instanceof z.ZodNumber)
    return (text) => (typeof text === 'string' ? Number(parseDigits(text) ?? Number.NaN) : text)
  return (text) => text
}

/** Decodes the fields that the schema knows; others are dropped. */
export function fieldsDecoder(
  { shape }: z.ZodObject,
  decoderOf: (field: z.core.$ZodType) => Decode,
): (values: Record<string, unknown>) => Record<string, unknown> {
  const fields = Object.entries(shape).map(([name, field]) => ({ name, decode: decoderOf(field) }))
  return (values) => {
    const decoded: Record<string, unknown> = {}
    for (const { name, decode } of fields) {
      if (Object.hasOwn(values, name)) decoded[name] = decode(values[name])
    }
    return decoded
  }
}

function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodDefault ? unwrap(schema.unwrap()) : schema
}
