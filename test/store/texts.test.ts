import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { toApiError } from '../../engine/service/api/errors.ts'
import { createExamples, exampleInput, procedures } from '../support/examples.ts'
import { contextWith, shareTestApi } from '../support/petstore.ts'

const api = shareTestApi()

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
