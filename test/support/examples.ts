import { z } from 'zod'
import { proceduresOf } from '../../engine/service/procedures/procedures.ts'
import { exampleOf } from '../../engine/service/rest/document.ts'
import { appRouter } from '../../server/router.ts'
import { type contextWith, onSqlite } from './petstore.ts'

export const procedures = new Map(proceduresOf(appRouter).map((procedure) => [procedure.name, procedure]))

/** The values of the documented example of an input. It has no fields if there is none. */
export function exampleInput(input: z.ZodType): Record<string, unknown> {
  // Safe: the example of an object is an object.
  const example = (exampleOf(input) ?? {}) as Record<string, unknown>
  return Object.fromEntries(
    Object.entries(example).map(([name, value]) => [name, typeof value === 'number' ? BigInt(value) : value]),
  )
}

/** Adds a row to each collection that has a create, so that the ids of examples are those of rows. */
export async function createExamples(ctx: ReturnType<typeof contextWith>): Promise<void> {
  // In the order of their references.
  for (const collection of Object.keys(onSqlite.collections)) {
    const create = procedures.get(`${collection}.create`)
    const [input] = create?.inputs ?? []
    if (input instanceof z.ZodType) await create?.call(exampleInput(input), ctx)
  }
}
