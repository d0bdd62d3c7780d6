import { z } from 'zod'
import { parseDigits } from '../int64.ts'

/**
 * Gives the value of a field in a JSON body the type its schema expects where JSON has no such type: an integer becomes
 * a `bigint`. Whatever does not fit is left as it came, for the schema to refuse.
 */
export function decodeJson(schema: z.core.$ZodType, value: unknown): unknown {
  const isBigInt = unwrap(schema) instanceof z.ZodBigInt
  return isBigInt && typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : value
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
  return schema instanceof z.ZodOptional || schema instanceof z.ZodDefault ? unwrap(schema.unwrap()) : schema
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
