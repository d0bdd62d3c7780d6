import { expect, test } from 'vitest'
import { z } from 'zod'
import type { BaseStore } from '../../../store/collection/base-store.ts'
import { contextWith, startTestApi } from '../../../test/notes/fixtures.ts'
import { query, router } from '../../../test/notes/trpc.ts'
import { keepsValues } from '../../api/output.ts'
import { proceduresOf } from '../../procedures/procedures.ts'

// The procedures of these tests read nothing of their context.
const ctx = contextWith({} as BaseStore)

interface Node {
  name: string
  children: Node[]
}

const Tree: z.ZodType<Node> = z.object({
  name: z.string(),
  get children() {
    return z.array(Tree)
  },
})

/** Schemas that change a value or reject fields, the value that the resolver returns, and what a client must get. */
const changing: [what: string, schema: z.ZodType, returned: unknown, sent: unknown][] = [
  [
    'a trimmed text in an array',
    z.array(z.object({ text: z.string().trim() })),
    [{ text: ' a ', secret: 1 }],
    [{ text: 'a' }],
  ],
  ['a transform', z.object({ a: z.string().transform((a) => a.toUpperCase()) }), { a: 'a', secret: 1 }, { a: 'A' }],
  ['a URL', z.object({ a: z.url() }), { a: ' http://a/ ' }, { a: 'http://a/' }],
  ['a coerced number', z.object({ n: z.coerce.number() }), { n: '1' }, { n: 1 }],
  ['an overwritten array', z.array(z.string()).overwrite((all) => all.slice(0, 1)), ['a', 'b'], ['a']],
  [
    'a check that writes a value',
    z.object({ a: z.string().check((payload) => void Object.assign(payload, { value: 'b' })) }),
    { a: 'a' },
    { a: 'b' },
  ],
  [
    'a refinement that sorts its array',
    z.object({ a: z.array(z.string()).refine((all) => all.sort()) }),
    { a: ['b', 'a'] },
    { a: ['a', 'b'] },
  ],
  ['a strict object', z.strictObject({ a: z.string() }), { a: 'a', secret: 1 }, 'INTERNAL_SERVER_ERROR'],
  [
    'a catchall',
    z.object({ a: z.string() }).catchall(z.string().toUpperCase()),
    { a: 'a', b: 'b' },
    { a: 'a', b: 'B' },
  ],
  ['a name with a dot', z.object({ 'a.b': z.string() }), { 'a.b': 'a', secret: 1 }, { 'a.b': 'a' }],
  ['a recursive schema', Tree, { name: 'a', children: [], secret: 1 }, { name: 'a', children: [] }],
]

test.for(changing)('%s in the output is validated by the chain', async ([, schema, returned, sent]) => {
  expect(keepsValues(schema)).toBe(false)
  expect(await callWith(schema, returned).catch(({ code }) => code)).toEqual(sent)
})

test.for<[what: string, schema: z.ZodType, returned: unknown]>([
  [
    'an object of scalars',
    z.object({ id: z.bigint().min(0n), tags: z.array(z.enum(['a', 'b'])), isIt: z.boolean(), text: z.string() }),
    { id: -1n, tags: ['a'], isIt: true, text: 'a' },
  ],
  ['a number', z.object({ float: z.number(), int: z.int().min(0), integer: z.number().int() }), { float: 0.5, int: 1 }],
  ['a range of bigints', z.array(z.bigint().min(0n).max(9n)).max(9), [1n]],
  [
    'a text with a length, a pattern and a refinement',
    z.array(
      z
        .string()
        .min(1)
        .max(9)
        .regex(/a/)
        .refine((text) => text !== 'b', { abort: true }),
    ),
    ['a'],
  ],
])('%s in the output is not validated', async ([, schema, returned]) => {
  expect(keepsValues(schema)).toBe(true)
  expect(await callWith(schema, returned)).toBe(returned)
})

/** Those that omit a field, and two plain ones. */
const filtering: typeof changing = [
  ...changing.filter(([, , returned, sent]) => JSON.stringify(returned).includes('secret') && typeof sent === 'object'),
  ['a plain object', z.object({ a: z.string() }), { a: 'a', secret: 1 }, { a: 'a' }],
  ['a list', z.array(z.object({ a: z.string() })), [{ a: 'a', secret: 1 }], [{ a: 'a' }]],
]

test('neither adapter sends a field that the output does not list', async () => {
  const procedures = filtering.map(([, schema, returned], index) =>
    query({ openapi: { method: 'GET', path: `/query${index}` } })
      .input(z.object({}))
      .output(schema)
      .query(() => returned),
  )
  const { rest } = await startTestApi({ router: router(Object.fromEntries(procedures.entries())) })
  const input = encodeURIComponent('{"json":{}}')
  for (const [index, [what, , , sent]] of filtering.entries()) {
    expect((await rest.get(`/v1/query${index}`)).body, what).toEqual(sent)
    const response = await rest.get(`/trpc/${index}?input=${input}`)
    expect(response, what).toMatchObject({ status: 200, body: { result: { data: { json: sent } } } })
  }
})

/** Calls a procedure with this output that returns this value. */
async function callWith(schema: z.ZodType, returned: unknown): Promise<unknown> {
  const called = query()
    .input(z.object({}))
    .output(schema)
    .query(() => returned)
  const [only] = proceduresOf(router({ called }))
  return only?.call({}, ctx)
}
