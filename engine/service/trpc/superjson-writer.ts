import superjson from 'superjson'
import { z } from 'zod'
import { keepsValues, requiredPart } from '../api/output.ts'

/** Serializes a value to the JSON text that superjson writes. */
export type Write = (value: unknown) => string

export function writeAnything(value: unknown): string {
  return superjson.stringify(value)
}

/**
 * Compiles a serializer from a schema. superjson searches each value for `bigint`s; the schema says where they are. The
 * serializer writes only the fields that the schema lists, and no optional field that is undefined. It does not annotate which objects are identical.
 *
 * @returns undefined unless the schema is an object or array whose validation keeps values, as the direct call of a
 * procedure requires, too.
 */
export function compileWriter(schema: z.ZodType | undefined): Write | undefined {
  const hasParts = schema instanceof z.ZodArray || schema instanceof z.ZodObject
  if (!hasParts || !keepsValues(schema)) return undefined
  const write = compile(schema)
  return (value) => {
    const types: Types = { text: '' }
    const json = write(value, '', types)
    const meta = types.text ? `,"meta":{"values":{${types.text}},"v":1}` : ''
    return `{"json":${json}${meta}}`
  }
}

/** The annotations of a value, as the members of a JSON object. */
interface Types {
  text: string
}

/** Writes a part of the value, and adds an annotation to `types` for each `bigint` and `Date`. */
type WritePart = (value: unknown, path: string, types: Types) => string

/** The resolver's type guarantees that a value has the type of its schema. The casts below rely on that. */
function compile(schema: z.core.$ZodType): WritePart {
  if (schema instanceof z.ZodBigInt) return writeBigint
  if (schema instanceof z.ZodNumber) return writeNumber
  if (schema instanceof z.ZodDate) return writeDate
  if (schema instanceof z.ZodArray) return compileArray(schema)
  if (schema instanceof z.ZodObject) return compileObject(schema)
  return (value) => JSON.stringify(value)
}

function writeBigint(value: unknown, path: string, types: Types): string {
  if (typeof value !== 'bigint')
    throw new TypeError(`An output holds a ${typeof value} where its schema says a bigint.`)
  types.text += `${types.text && ','}"${path}":["bigint"]`
  return `"${value}"`
}

function writeDate(value: unknown, path: string, types: Types): string {
  types.text += `${types.text && ','}"${path}":["Date"]`
  return JSON.stringify((value as Date).toISOString())
}

/** JSON has no NaN and no Infinity, which Zod's output validation would reject. */
function writeNumber(value: unknown): string {
  if (!Number.isFinite(value)) throw new TypeError(`An output holds ${value} where its schema says a number.`)
  return String(value)
}

function compileArray({ element }: z.ZodArray): WritePart {
  const write = compile(element)
  return (values, path, types) => {
    const prefix = path && `${path}.`
    let json = ''
    for (const [index, value] of (values as unknown[]).entries()) {
      json += `${json && ','}${write(value, `${prefix}${index}`, types)}`
    }
    return `[${json}]`
  }
}

function compileObject({ shape }: z.ZodObject): WritePart {
  const fields = Object.entries(shape).map(([name, schema]) => ({
    name,
    key: `"${name}":`,
    mayBeAbsent: schema instanceof z.ZodOptional,
    write: compile(requiredPart(schema)),
  }))
  return (value, path, types) => {
    const record = value as Record<string, unknown>
    const prefix = path && `${path}.`
    let json = ''
    for (const { name, key, mayBeAbsent, write } of fields) {
      const field = record[name]
      if (!(mayBeAbsent && field === undefined)) json += `${json && ','}${key}${write(field, prefix + name, types)}`
    }
    return `{${json}}`
  }
}
