import superjson from 'superjson'
import { z } from 'zod'
import { keepsValues } from '../api/output.ts'

/** Serializes a value to the JSON text that superjson writes. */
export type Write = (value: unknown) => string

export function writeAnything(value: unknown): string {
  return superjson.stringify(value)
}

/**
 * Compiles a serializer from a schema. superjson searches each value for `bigint`s; the schema says where they are. The
 * serializer writes only the fields that the schema lists. It does not annotate which objects are identical.
 *
 * @returns undefined unless the schema is an object or array whose validation keeps values, as the direct call of a
 * procedure requires, too.
 */
export function compileWriter(schema: z.ZodType | undefined): Write | undefined {
  const hasParts = schema instanceof z.ZodArray || schema instanceof z.ZodObject
  if (!hasParts || !keepsValues(schema)) return undefined
  const write = compile(schema)
  return (value) => {
    const types: string[] = []
    const json = write(value, '', types)
    const meta = types.length > 0 ? `,"meta":{"values":{${types.join(',')}},"v":1}` : ''
    return `{"json":${json}${meta}}`
  }
}

/** Writes a part of the value, and adds an annotation to `types` for each `bigint`. */
type WritePart = (value: unknown, path: string, types: string[]) => string

/** The resolver's type guarantees that a value has the type of its schema. The casts below rely on that. */
function compile(schema: z.core.$ZodType): WritePart {
  if (schema instanceof z.ZodBigInt) return writeBigint
  if (schema instanceof z.ZodNumber) return writeNumber
  if (schema instanceof z.ZodArray) return compileArray(schema)
  if (schema instanceof z.ZodObject) return compileObject(schema)
  return (value) => JSON.stringify(value)
}

function writeBigint(value: unknown, path: string, types: string[]): string {
  types.push(`"${path}":["bigint"]`)
  return `"${value}"`
}

/** JSON has no NaN and no Infinity, which Zod's output validation would reject. */
function writeNumber(value: unknown): string {
  if (!Number.isFinite(value)) throw new TypeError(`An output holds ${value} where its schema says a number.`)
  return String(value)
}

function compileArray({ element }: z.ZodArray): WritePart {
  const write = compile(element)
  return (values, path, types) =>
    `[${(values as unknown[]).map((value, index) => write(value, path ? `${path}.${index}` : `${index}`, types)).join(',')}]`
}

function compileObject({ shape }: z.ZodObject): WritePart {
  const fields = Object.entries(shape).map(([name, schema]) => ({ name, write: compile(schema) }))
  return (value, path, types) => {
    const record = value as Record<string, unknown>
    const written = fields.map(
      ({ name, write }) => `"${name}":${write(record[name], path ? `${path}.${name}` : name, types)}`,
    )
    return `{${written.join(',')}}`
  }
}
