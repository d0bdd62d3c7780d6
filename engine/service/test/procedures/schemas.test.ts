import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { query, router } from '../../../test/notes/trpc.ts'
import { Text } from '../../api/text.ts'
import { describeIssues, issuesOf } from '../../api/validation.ts'
import { refuseSchemas } from '../../procedures/schemas.ts'

test('a text is what both databases hold exactly', () => {
  const texts = ['\0', 'a\0b', '\ud800', 'a\udfffb', '\udc00\ud800', '', '😀', 'a𝒳b', '\u{10ffff}', '\u0001']
  expect(texts.map((text) => Text.safeParse(text).success)).toEqual([...Array(5).fill(false), ...Array(5).fill(true)])
})

test.for([
  ['', 'expected a length of at least 1', { code: 'too_small', minimum: 1 }],
  ['12345', 'expected a length of at most 4', { code: 'too_big', maximum: 4 }],
  [7, 'expected a string, got 7', { code: 'invalid_type' }],
] as const)('a text with a length that gets %j names the rule', ([value, message, rule]) => {
  const { error } = z.object({ body: Text.min(1).max(4) }).safeParse({ body: value })
  expect(error && describeIssues(error)).toBe(`body: ${message}`)
  expect(error && issuesOf(error)).toMatchObject([{ path: 'body', ...rule }])
})

describe('an input stops the start, with a sentence that names the field, if it has', () => {
  test.for([
    ['a text', z.object({ notes: z.string().max(1_000) }), 'notes'],
    ['an optional text', z.object({ notes: z.string().optional() }), 'notes'],
    ['a text with a default', z.object({ notes: z.string().default('') }).prefault({}), 'notes'],
    ['a date', z.object({ born: z.iso.date() }), 'born'],
    ['a list of texts', z.object({ tags: z.array(z.string()) }), 'tags'],
    ['a text in an object', z.object({ address: z.object({ city: z.string() }) }), 'city'],
    ['a text in a union', z.object({ either: z.union([z.bigint(), z.string()]) }), 'either'],
    ['a text as the key of a record', z.object({ counts: z.record(z.string(), z.bigint()) }), 'counts'],
    ['a text that becomes another value', z.object({ size: z.string().transform(Number) }), 'size'],
    ['a text itself', z.string(), 'input'],
  ] as const)('%s', ([, input, field]) => {
    const create = query()
      .input(input)
      .query(() => 1)
    expect(() => refuseSchemas(router({ create }))).toThrow(
      `create: the field ${field} is a text that a database may not hold exactly. Make it of Text of #service`,
    )
  })

  test('none of these, but texts of Text', () => {
    const input = z.object({
      notes: Text.max(9).optional(),
      tags: z.array(Text.meta({ description: 'A tag.' })),
      n: z.int(),
    })
    expect(() =>
      refuseSchemas(
        router({
          create: query()
            .input(input)
            .query(() => 1),
        }),
      ),
    ).not.toThrow()
  })
})

test.for([
  ['a field of an item', z.object({ id: z.bigint(), state: z.enum(['open']).default('open') }), 'state'],
  ['a field of a list', z.array(z.object({ size: z.int().optional().prefault(3) })), 'size'],
  ['the output itself', z.array(z.string()).default([]), 'output'],
] as const)('a default of an output stops the start: %s', ([, output, field]) => {
  const found = query()
    .output(output)
    .query(() => [] as never)
  expect(() => refuseSchemas(router({ found }))).toThrow(
    `found: the field ${field} of the output has a default. Only the input needs one.`,
  )
})
