import superjson from 'superjson'
import { z } from 'zod'
import { writeJson } from './literals.ts'
import { keepsValues, requiredPart } from './output.ts'
import { isRecord } from './validation.ts'

/** Serializes a value to a JSON text. */
type Write = (value: unknown) => string

/** Compiles a serializer from a schema, for REST: a `bigint` is written as a JSON integer. */
export function jsonWriter(schema: z.ZodType | undefined): Write {
  const write = compileWhole(schema)
  return write ? (value) => write(value, '') : writeJson
}

/** Compiles a serializer from a schema, for typed RPC: it writes what superjson writes, without a search of the values. */
export function superjsonWriter(schema: z.ZodType | undefined): Write {
  const write = compileWhole(schema)
  if (!write) return superjson.stringify
  return (value) => {
    const types: Types = { text: '' }
    const json = write(value, '', types)
    const meta = types.text ? `,"meta":{"values":{${types.text}},"v":1}` : ''
    return `{"json":${json}${meta}}`
  }
}

/**
 * Only fields that the schema lists are written, and no annotation of identical objects. Undefined unless the schema is an
 * object or array whose validation keeps values, as the direct call of a procedure requires, too.
 */
function compileWhole(schema: z.ZodType | undefined): WritePart | undefined {
  const hasParts = schema instanceof z.ZodArray || schema instanceof z.ZodObject
  return hasParts && keepsValues(schema) ? compile(schema) : undefined
}

/** The annotations of a value, as the members of a JSON object. */
interface Types {
  text: string
}

/**
 * Writes a part of the value. With `types`, adds an annotation with the whole path for each `bigint` and `Date`. Otherwise,
 * the path is the name of the field only, for the message of an error.
 */
type WritePart = (value: unknown, path: string, types?: Types) => string

/** Makes the writer of a schema. Like the output validation that it replaces, it refuses a value of another type. */
function compile(schema: z.core.$ZodType): WritePart {
  if (schema instanceof z.ZodBigInt) return writeBigint
  if (schema instanceof z.ZodNumber) return writeNumber
  if (schema instanceof z.ZodDate) return writeDate
  if (schema instanceof z.ZodArray) return compileArray(schema)
  if (schema instanceof z.ZodObject) return compileObject(schema)
  if (schema instanceof z.ZodBoolean) return writeBoolean
  return schema instanceof z.ZodEnum ? compileChoice(schema) : writeText
}

function refuse(value: unknown, path: string, expected: string): never {
  throw new TypeError(`An output cannot be written: ${path}: expected ${expected}, got ${typeof value}.`)
}

function writeBigint(value: unknown, path: string, types?: Types): string {
  if (typeof value !== 'bigint') refuse(value, path, 'a bigint')
  if (!types) return String(value)
  types.text += `${types.text && ','}"${path}":["bigint"]`
  return `"${value}"`
}

function writeDate(value: unknown, path: string, types?: Types): string {
  if (!(value instanceof Date) || Number.isNaN(value.getTime())) refuse(value, path, 'a date')
  if (types) types.text += `${types.text && ','}"${path}":["Date"]`
  return JSON.stringify(value.toISOString())
}

/** JSON has no NaN and no Infinity. */
function writeNumber(value: unknown, path: string): string {
  return Number.isFinite(value) ? String(value) : refuse(value, path, 'a finite number')
}

function writeBoolean(value: unknown, path: string): string {
  return typeof value === 'boolean' ? String(value) : refuse(value, path, 'a boolean')
}

/** Matches text without characters that JSON escapes (RFC 8259, section 7), and without surrogates, which may be lone. */
const plain = /^[ !#-[\]-\ud7ff\ue000-\uffff]*$/

/** `JSON.stringify` takes three times as long. */
function writeText(value: unknown, path: string): string {
  if (typeof value !== 'string') return refuse(value, path, 'a string')
  return plain.test(value) ? `"${value}"` : JSON.stringify(value)
}

function compileChoice({ options }: z.ZodEnum): WritePart {
  const texts = new Map<unknown, string>(options.map((option) => [option, JSON.stringify(option)]))
  return (value, path) => texts.get(value) ?? refuse(value, path, 'one of its choices')
}

function compileArray({ element }: z.ZodArray): WritePart {
  const write = compile(element)
  return (values, path, types) => {
    if (!Array.isArray(values)) return refuse(values, path, 'an array')
    const prefix = path && `${path}.`
    let json = ''
    for (let index = 0; index < values.length; index++) {
      json += `${json && ','}${write(values[index], types ? `${prefix}${index}` : '', types)}`
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
      if (mayBeAbsent && field === undefined) continue
      json += (json && ',') + key + write(field, types ? prefix + name : name, types)
    }
    return `{${json}}`
  }
}
