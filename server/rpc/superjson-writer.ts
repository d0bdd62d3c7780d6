import superjson from 'superjson'
import { z } from 'zod'
import { keepsValues } from '../api/call.ts'

/** Writes a value as the JSON text that superjson would, but for notes of which equal values are one and the same. */
export type Write = (value: unknown) => string

/**
 * Compiles a writer from a schema. superjson walks through each value to find the `bigint`s; the schema tells beforehand
 * where they are. The writer sends the fields that the schema lists and no others. It serves exactly the schemas whose
 * output `compileProcedure` may leave unvalidated, so an unlisted field never leaves; the rest is left to superjson.
 */
export function superjsonWriter(schema: z.ZodType | undefined): Write {
  const hasParts = schema instanceof z.ZodArray || schema instanceof z.ZodObject
  if (!hasParts || !keepsValues(schema)) return (value) => JSON.stringify(superjson.serialize(value))
  const part = compile(schema)
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

function compile(schema: z.core.$ZodType): Part {
  if (schema instanceof z.ZodBigInt) return bigint
  if (schema instanceof z.ZodArray) return compileArray(schema.element)
  if (schema instanceof z.ZodObject) return compileObject(schema)
  return plain
}

function compileArray(element: z.core.$ZodType): Part {
  const part = compile(element)
  return {
    write: (values) => `[${(values as unknown[]).map(part.write).join(',')}]`,
    note(values, path, notes) {
      for (const [index, value] of (values as unknown[]).entries()) part.note(value, within(path, String(index)), notes)
    },
  }
}

function compileObject({ shape }: z.ZodObject): Part {
  const fields = Object.entries(shape).map(([name, schema]) => ({ name, part: compile(schema) }))
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
