import superjson from 'superjson'
import { z } from 'zod'

/** Writes a value as the JSON text that superjson would, but for notes of which equal values are one and the same. */
export type Write = (value: unknown) => string

/**
 * Compiles what writes the values of a schema. superjson walks through each value to find out what the schema says
 * beforehand: where the `bigint`s are. A schema with what JSON cannot tell besides these is left to superjson.
 */
export function superjsonWriter(schema: z.ZodType | undefined): Write {
  const part = schema instanceof z.ZodArray || schema instanceof z.ZodObject ? compile(schema) : undefined
  if (!part) return (value) => JSON.stringify(superjson.serialize(value))
  return (value) => {
    const notes: string[] = []
    part.note(value, '', notes)
    const meta = notes.length > 0 ? `,"meta":{"values":{${notes.join(',')}},"v":1}` : ''
    return `{"json":${part.write(value)}${meta}}`
  }
}

interface Part {
  write(value: unknown): string
  /** Adds a note for each `bigint` in the value, which is at `path`. */
  note(value: unknown, path: string, notes: string[]): void
}

const plain: Part = { write: (value) => JSON.stringify(value), note: () => {} }

const bigint: Part = {
  write: (value) => `"${value}"`,
  note: (_value, path, notes) => void notes.push(`"${path}":["bigint"]`),
}

function compile(schema: z.core.$ZodType): Part | undefined {
  if (schema instanceof z.ZodString || schema instanceof z.ZodEnum || schema instanceof z.ZodBoolean) return plain
  if (schema instanceof z.ZodBigInt) return bigint
  if (schema instanceof z.ZodArray) return compileArray(schema.element)
  if (schema instanceof z.ZodObject) return compileObject(schema)
  return undefined
}

function compileArray(element: z.core.$ZodType): Part | undefined {
  const part = compile(element)
  if (!part) return undefined
  return {
    write: (values) => `[${(values as unknown[]).map(part.write).join(',')}]`,
    note(values, path, notes) {
      for (const [index, value] of (values as unknown[]).entries()) part.note(value, within(path, String(index)), notes)
    },
  }
}

function compileObject({ shape }: z.ZodObject): Part | undefined {
  const fields: { name: string; part: Part }[] = []
  for (const [name, schema] of Object.entries(shape)) {
    const part = compile(schema)
    // Other names would have to be escaped.
    if (!part || !/^\w+$/.test(name)) return undefined
    fields.push({ name, part })
  }
  return {
    write: (value) =>
      `{${fields.map(({ name, part }) => `"${name}":${part.write((value as Record<string, unknown>)[name])}`).join(',')}}`,
    note(value, path, notes) {
      for (const { name, part } of fields)
        part.note((value as Record<string, unknown>)[name], within(path, name), notes)
    },
  }
}

function within(path: string, name: string): string {
  return path ? `${path}.${name}` : name
}
