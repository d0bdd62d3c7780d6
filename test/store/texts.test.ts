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

describe.for(texts)('the text $field of $name', ({ name, field, call, example }) => {
  async function send(text: string) {
    const ctx = contextWith(api().store)
    await createExamples(ctx)
    const { limit: _, expected: __, ...input } = { ...example, [field]: text }
    return call(input, ctx)
  }

  test.for(['\0', 'a\0b', '\ud800', 'a\udfffb', '\udc00\ud800'])(
    'refuses %j, which no database holds',
    async (text) => {
      const thrown = await send(text).catch(toApiError)
      expect(thrown).toMatchObject({ body: { status: 400 }, issues: [{ path: field }] })
    },
  )

  test.for(['😀', 'a𝒳b', '\u{10ffff}'])('keeps %j exactly', async (text) => {
    const result = await send(text)
    if (typeof result !== 'object' || result === null || !('id' in result)) return
    expect(result).toMatchObject({ [field]: text })
    const list = procedures.get(name.replace(/\.\w+$/, '.list'))
    const page = { limit: 1, cursor: BigInt(String(result.id)) - 1n }
    expect(await list?.call(page, contextWith(api().store))).toMatchObject([{ [field]: text }])
  })

  test.for(['\u0001', '\u007f', '\u0085', ' ', '\u2003', 'x'.repeat(10_000)])(
    'refuses %j itself, or stores it: the rules of the table refuse nothing else',
    async (text) => {
      const thrown = await send(text).then(() => undefined, toApiError)
      expect([undefined, 400], thrown?.cause?.message).toContain(thrown?.body.status)
    },
  )
})
