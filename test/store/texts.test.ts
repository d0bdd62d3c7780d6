import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { toApiError } from '../../engine/service/api/errors.ts'
import { proceduresOf } from '../../engine/service/procedures/procedures.ts'
import { exampleOf } from '../../engine/service/rest/document.ts'
import { appRouter } from '../../server/router.ts'
import { contextWith, onSqlite, shareTestApi } from '../support/petstore.ts'

const api = shareTestApi()
const procedures = new Map(proceduresOf(appRouter).map((procedure) => [procedure.name, procedure]))

/** The values of the documented example of an input. */
function exampleInput(input: z.ZodType): Record<string, unknown> {
  // Safe: the example of an object is an object.
  const example = (exampleOf(input) ?? {}) as Record<string, unknown>
  return Object.fromEntries(
    Object.entries(example).map(([name, value]) => [name, typeof value === 'number' ? BigInt(value) : value]),
  )
}

/** Adds a row to each collection that has a create, so that the ids of examples are those of rows. */
async function createExamples(ctx: ReturnType<typeof contextWith>): Promise<void> {
  // In the order of their references.
  for (const collection of Object.keys(onSqlite.collections)) {
    const create = procedures.get(`${collection}.create`)
    const [input] = create?.inputs ?? []
    if (input instanceof z.ZodType) await create?.call(exampleInput(input), ctx)
  }
}

function unwrap(schema: unknown): unknown {
  const isWrapper = schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault
  return isWrapper ? unwrap(schema.unwrap()) : schema
}

const texts = [...procedures.values()].flatMap(({ name, inputs, call }) => {
  const object = unwrap(inputs[0])
  if (!(object instanceof z.ZodObject)) return []
  const fields = Object.keys(object.shape).filter((field) => unwrap(object.shape[field]) instanceof z.ZodString)
  return fields.map((field) => ({ name, field, call, example: exampleInput(object) }))
})

test('creates, changes and searches have texts', () => {
  const names = texts.map(({ name, field }) => `${name} ${field}`)
  expect(names).toEqual(expect.arrayContaining(['pets.create name', 'pets.search name', 'pets.update name']))
})

describe.for(texts)('the text $field of $name', ({ field, call, example }) => {
  test.for(['\0', '\ud800', '\u0001', '\u007f', '\u0085', ' ', '\u2003', '\u{10ffff}', 'x'.repeat(10_000)])(
    'refuses %j itself, or stores it: the database refuses nothing else',
    async (text) => {
      const ctx = contextWith(api().store)
      await createExamples(ctx)
      const { limit: _, expected: __, ...input } = { ...example, [field]: text }
      const thrown = await call(input, ctx).then(() => undefined, toApiError)
      expect([undefined, 400], thrown?.cause?.message).toContain(thrown?.body.status)
    },
  )
})
