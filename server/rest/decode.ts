import { z } from 'zod'
import { parseDigits } from '../int64.ts'

/**
 * Gives a value from JSON the type its schema expects where JSON has no such type: integers become `bigint` where the
 * schema says so. Whatever does not fit is left as it came, for the schema to refuse.
 */
export function decodeJson(schema: z.core.$ZodType, value: unknown): unknown {
  const inner = unwrap(schema)
  if (inner instanceof z.ZodBigInt) return Number.isInteger(value) ? BigInt(value as number) : value
  if (inner instanceof z.ZodArray)
    return Array.isArray(value) ? value.map((item) => decodeJson(inner.element, item)) : value
  if (inner instanceof z.ZodObject) return isRecord(value) ? decodeFields(inner, value, decodeJson) : value
  return value
}

/** The same for the text of a path or query parameter. A text that is no integer where one is expected becomes `NaN`. */
export function decodeText(schema: z.core.$ZodType, text: unknown): unknown {
  const inner = unwrap(schema)
  if (typeof text !== 'string') return text
  if (inner instanceof z.ZodBigInt) return parseDigits(text) ?? Number.NaN
  if (inner instanceof z.ZodNumber) return Number(parseDigits(text) ?? Number.NaN)
  return text
}

/** Decodes the fields the schema knows; others are dropped. */
export function decodeFields(
  schema: z.ZodObject,
  values: Record<string, unknown>,
  decode: typeof decodeJson,
): Record<string, unknown> {
  const known = Object.entries(schema.shape).filter(([name]) => Object.hasOwn(values, name))
  return Object.fromEntries(known.map(([name, field]) => [name, decode(field, values[name])]))
}

function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  const isWrapper =
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodNullable
  return isWrapper ? unwrap(schema.unwrap()) : schema
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
