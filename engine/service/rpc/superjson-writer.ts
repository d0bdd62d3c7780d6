import superjson from 'superjson'
import { z } from 'zod'
import { keepsValues, requiredPart } from '../api/output.ts'
import { isRecord } from '../api/validation.ts'

/** Serializes a value to the JSON text that superjson writes. */
type Write = (value: unknown) => string

export function writeAnything(value: unknown): string {
  return superjson.stringify(value)
}

/**
 * Compiles a serializer from a schema. superjson searches each value for `bigint`s; the schema says where they are. Only
 * fields that the schema lists are written, and no annotation of identical objects. Undefined unless the schema is an object
 * or array whose validation keeps values, as the direct call of a procedure requires, too.
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

/** Makes the writer of a schema. Like the output validation that it replaces, it refuses a value of another type. */
function compile(schema: z.core.$ZodType): WritePart {
  if (schema instanceof z.ZodBigInt) return writeBigint
  if (schema instanceof z.ZodNumber) return writeNumber
  if (schema instanceof z.ZodDate) return writeDate
  if (schema instanceof z.ZodArray) return compileArray(schema)
  if (schema instanceof z.ZodObject) return compileObject(schema)
  return schema instanceof z.ZodEnum ? compileChoice(schema) : compileScalar(schema._zod.def.type)
}

function refuse(value: unknown, path: string, expected: string): never {
  throw new TypeError(`An output cannot be written: ${path}: expected ${expected}, got ${typeof value}.`)
}

function writeBigint(value: unknown, path: string, types: Types): string {
  if (typeof value !== 'bigint') refuse(value, path, 'a bigint')
  types.text += `${types.text && ','}"${path}":["bigint"]`
  return `"${value}"`
}

function writeDate(value: unknown, path: string, types: Types): string {
  if (!(value instanceof Date) || Number.isNaN(value.getTime())) refuse(value, path, 'a date')
  types.text += `${types.text && ','}"${path}":["Date"]`
  return JSON.stringify(value.toISOString())
}

/** JSON has no NaN and no Infinity. */
function writeNumber(value: unknown, path: string): string {
  return Number.isFinite(value) ? String(value) : refuse(value, path, 'a finite number')
}

/** @param type `string` or `boolean` */
function compileScalar(type: string): WritePart {
  return (value, path) => (typeof value === type ? JSON.stringify(value) : refuse(value, path, `a ${type}`))
}

function compileChoice({ options }: z.ZodEnum): WritePart {
  const choices: ReadonlySet<unknown> = new Set(options)
  return (value, path) => (choices.has(value) ? JSON.stringify(value) : refuse(value, path, 'one of its choices'))
}

function compileArray({ element }: z.ZodArray): WritePart {
  const write = compile(element)
  return (values, path, types) => {
    if (!Array.isArray(values)) return refuse(values, path, 'an array')
    const prefix = path && `${path}.`
    let json = ''
    for (const [index, value] of values.entries()) {
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
  return (record, path, types) => {
    if (!isRecord(record)) return refuse(record, path, 'an object')
    const prefix = path && `${path}.`
    let json = ''
    for (const { name, key, mayBeAbsent, write } of fields) {
      const field = record[name]
      if (!(mayBeAbsent && field === undefined)) json += `${json && ','}${key}${write(field, prefix + name, types)}`
    }
    return `{${json}}`
  }
}
