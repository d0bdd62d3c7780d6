import { z } from 'zod'

/** Builds an example from those of the fields (`meta.examples`). Undefined if a required field has none. */
export function exampleOf(schema: z.core.$ZodType): unknown {
  const [example] = z.globalRegistry.get(schema)?.examples ?? []
  if (example !== undefined) return example
  if (schema instanceof z.ZodArray) return listOf(exampleOf(schema.element))
  if (schema instanceof z.ZodObject) return objectOf(schema)
  const isWrapper = schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault
  return isWrapper ? exampleOf(schema.unwrap()) : undefined
}

function objectOf({ shape }: z.ZodObject): Record<string, unknown> | undefined {
  const fields = Object.entries(shape).map(([name, field]) => ({ name, value: exampleOf(field), field }))
  if (fields.some(({ value, field }) => value === undefined && !field.safeParse(undefined).success)) return undefined
  return Object.fromEntries(fields.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])))
}

function listOf(item: unknown): unknown[] | undefined {
  return item === undefined ? undefined : [item]
}
