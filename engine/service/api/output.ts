import superjson from 'superjson'
import { z } from 'zod'
import { writeJson } from './literals.ts'
import { requiredPart } from './schema.ts'
import { isRecord } from './validation.ts'

/**
 * Compiles a schema to a serializer, which takes a fraction of the time of a search of the values. Both adapters write only
 * the fields that the schema lists, and no annotation of identical objects.
 */

/** Serializes a value to a JSON text. */
type Serialize = (value: unknown) => string

/** For REST: a `bigint` is written as a JSON integer. */
export function jsonWriter(schema: z.ZodType | undefined): Serialize {
  const write = compileWhole(schema)
  return write ? (value) => write(value, '') : writeJson
}

/** For typed RPC: writes what superjson writes. */
export function superjsonWriter(schema: z.ZodType | undefined): Serialize {
  const write = compileWhole(schema)
  if (!write) return superjson.stringify
  return (value) => {
    const types: Types = { text: '' }
    const json = write(value, '', types)
    const meta = types.text ? `,"meta":{"values":{${types.text}},"v":1}` : ''
    return `{"json":${json}${meta}}`
  }
}

function compileWhole(schema: z.ZodType | undefined): WritePart | undefined {
  return schema instanceof z.ZodArray || schema instanceof z.ZodObject ? compile(schema) : undefined
}

/**
 * Whether parsing with this schema returns every valid value unchanged, except for fields that the schema does not list.
 * Unknown kinds of schemas and checks are assumed to change values.
 */
export function keepsValues(schema: unknown): boolean {
  return compile(schema) !== undefined
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

/** These checks only add issues. Others may change the value: `overwrite`, `superRefine`, `check`, a URL format. */
const readOnlyChecks = [
  z.core.$ZodCheckLessThan,
  z.core.$ZodCheckGreaterThan,
  z.core.$ZodCheckMinLength,
  z.core.$ZodCheckMaxLength,
  z.core.$ZodCheckRegex,
  z.core.$ZodCheckNumberFormat,
]

const scalarWriters = [
  [z.ZodString, writeText],
  [z.ZodNumber, writeNumber],
  [z.ZodBigInt, writeBigint],
  [z.ZodBoolean, writeBoolean],
] as const

/** Like the validation that it replaces, the writer refuses a value of another type. Undefined unless {@link keepsValues}. */
function compile(schema: unknown, parents: unknown[] = []): WritePart | undefined {
  // A recursive schema cannot be compiled.
  if (!(schema instanceof z.ZodType) || parents.includes(schema)) return undefined
  const { def } = schema._zod
  const [, writeScalar] = scalarWriters.find(([kind]) => schema instanceof kind) ?? []
  // A refinement could change an array, an object or a date, but not a scalar, because it gets the value itself.
  const allowed = writeScalar ? [...readOnlyChecks, z.core.$ZodCustom] : readOnlyChecks
  const isKept = def.checks?.every((check) => allowed.some((kind) => check instanceof kind)) ?? true
  if (!isKept || ('coerce' in def && def.coerce)) return undefined
  if (writeScalar) return writeScalar
  if (schema instanceof z.ZodDate) return writeDate
  if (schema instanceof z.ZodEnum) return compileChoice(schema)
  if (schema instanceof z.ZodArray) return compileArray(schema, [...parents, schema])
  return schema instanceof z.ZodObject ? compileObject(schema, [...parents, schema]) : undefined
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

function compileArray({ element }: z.ZodArray, parents: unknown[]): WritePart | undefined {
  const write = compile(element, parents)
  if (!write) return undefined
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

function compileObject({ shape, _zod }: z.ZodObject, parents: unknown[]): WritePart | undefined {
  const fields: { name: string; key: string; mayBeAbsent: boolean; write: WritePart }[] = []
  for (const [name, field] of Object.entries(shape)) {
    const write = compile(requiredPart(field), parents)
    // Other names would have to be escaped, and Zod drops __proto__.
    if (!write || !/^(?!__proto__$)\w+$/.test(name)) return undefined
    fields.push({ name, key: `"${name}":`, mayBeAbsent: field instanceof z.ZodOptional, write })
  }
  if (_zod.def.catchall) return undefined
  return (record, path, types) => {
    if (!isRecord(record)) return refuse(record, path, 'an object')
    const prefix = path && `${path}.`
    let json = ''
    for (const { name, key, mayBeAbsent, write } of fields) {
      const value = record[name]
      if (mayBeAbsent && value === undefined) continue
      json += (json && ',') + key + write(value, types ? prefix + name : name, types)
    }
    return `{${json}}`
  }
}
