import type { AnyProcedure } from '@trpc/server'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { compileProcedure } from '../../server/api/call.ts'
import { type Context, procedure, router } from '../../server/api/trpc.ts'
import { startRouter } from '../support/own-router.ts'

const ctx = {} as Context
const Doubled = z.object({ n: z.number() }).prefault({ n: 1 })

test('a procedure without middleware of its own is called past the chain, with what its resolver expects', async () => {
  const seen: unknown[] = []
  const routes = router({
    double: procedure.input(Doubled).query((options) => {
      seen.push({ ...options })
      return options.input.n * 2
    }),
  })
  const call = compileProcedure(routes, 'double')
  expect([await call(undefined, ctx), await call({ n: 21 }, ctx)]).toEqual([2, 42])
  const options = { ctx, type: 'query', path: 'double', signal: undefined, batchIndex: 0 }
  expect(seen).toEqual([
    { ...options, input: { n: 1 } },
    { ...options, input: { n: 21 } },
  ])
})

test('an input that the schema refuses is a bad request, as through the chain', async () => {
  const routes = router({
    direct: procedure.input(Doubled).query(() => 0),
    chained: procedure
      .input(Doubled)
      .use(({ next }) => next())
      .query(() => 0),
  })
  const thrown = await Promise.all(
    ['direct', 'chained'].map((path) => compileProcedure(routes, path)({ n: 'x' }, ctx).catch((error) => error)),
  )
  expect(thrown).toMatchObject([
    { code: 'BAD_REQUEST', cause: { issues: [{ path: ['n'] }] } },
    { code: 'BAD_REQUEST', cause: { issues: [{ path: ['n'] }] } },
  ])
})

test('a procedure with middleware of its own, with more than one input or with none is called through the chain', async () => {
  const order: string[] = []
  const noted = procedure.use(({ next }) => {
    order.push('middleware')
    return next()
  })
  const More = z.object({ m: z.number() })
  const routes = router({
    guarded: noted.input(Doubled).query(({ input }) => input.n),
    twice: procedure
      .input(z.object({ n: z.number() }))
      .input(More)
      .query(({ input }) => input.n + input.m),
    bare: procedure.query(() => 'bare'),
  })
  expect(await compileProcedure(routes, 'guarded')({ n: 3 }, ctx)).toBe(3)
  expect(order).toEqual(['middleware'])
  expect(await compileProcedure(routes, 'twice')({ n: 3, m: 4 }, ctx)).toBe(7)
  expect(await compileProcedure(routes, 'bare')(undefined, ctx)).toBe('bare')
})

test('an output that its schema changes is called through the chain, and one that it only checks is not', async () => {
  const Shouted = z.object({ text: z.string().transform((text) => text.toUpperCase()) })
  const Trimmed = z.array(z.object({ text: z.string().trim() }))
  const Checked = z.object({
    id: z.bigint().min(0n),
    tags: z.array(z.enum(['a', 'b'])),
    isIt: z.boolean(),
    text: z.string(),
  })
  const checked = { id: -1n, tags: ['a' as const], isIt: true, text: 'a' }
  const routes = router({
    shouted: procedure
      .input(Doubled)
      .output(Shouted)
      .query(() => ({ text: 'a', secret: 1 })),
    trimmed: procedure
      .input(Doubled)
      .output(Trimmed)
      .query(() => [{ text: ' a ' }]),
    checked: procedure
      .input(Doubled)
      .output(Checked)
      .query(() => checked),
  })
  expect(await compileProcedure(routes, 'shouted')(undefined, ctx)).toEqual({ text: 'A' })
  expect(await compileProcedure(routes, 'trimmed')(undefined, ctx)).toEqual([{ text: 'a' }])
  expect(await compileProcedure(routes, 'checked')(undefined, ctx)).toBe(checked)
})

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
  ['a coerced string', z.object({ n: z.coerce.string() }), { n: 1 }, { n: '1' }],
  ['a coerced bigint', z.object({ n: z.coerce.bigint() }), { n: '1' }, { n: 1n }],
  ['a coerced boolean', z.object({ n: z.coerce.boolean() }), { n: 'x' }, { n: true }],
  ['an overwritten array', z.array(z.string()).overwrite((all) => all.slice(0, 1)), ['a', 'b'], ['a']],
  ['an overwritten object', z.object({ a: z.string() }).overwrite(() => ({ a: 'b' })), { a: 'a' }, { a: 'b' }],
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
  ['a format that trims', z.object({ a: z.string().url() }), { a: ' http://a/ ' }, { a: 'http://a/' }],
  ['a strict object', z.strictObject({ a: z.string() }), { a: 'a', secret: 1 }, 'INTERNAL_SERVER_ERROR'],
  [
    'a catchall',
    z.object({ a: z.string() }).catchall(z.string().toUpperCase()),
    { a: 'a', b: 'b' },
    { a: 'a', b: 'B' },
  ],
  ['a name with a dot', z.object({ 'a.b': z.string() }), { 'a.b': 'a', secret: 1 }, { 'a.b': 'a' }],
  ['a name with a quote', z.array(z.object({ '"': z.string() })), [{ '"': 'a', secret: 1 }], [{ '"': 'a' }]],
  ['an empty name', z.object({ a: z.object({ '': z.string() }) }), { a: { '': 'a', b: 1 } }, { a: { '': 'a' } }],
  ['a recursive schema', Tree, { name: 'a', children: [], secret: 1 }, { name: 'a', children: [] }],
]

test.for(changing)('%s in the output is validated by the chain', async ([, schema, returned, sent]) => {
  const routes = router({
    query: procedure
      .input(Doubled)
      .output(schema)
      .query(() => returned),
  })
  const result = await compileProcedure(routes, 'query')(undefined, ctx).catch(({ code }) => code)
  expect(result).toEqual(sent)
})

test.for([
  ['a plain object', z.object({ a: z.string() }), { a: 'a', secret: 1 }, { a: 'a' }],
  ['a list', z.array(z.object({ a: z.string() })), [{ a: 'a', secret: 1 }], [{ a: 'a' }]],
  ['a name with a dot', z.object({ 'a.b': z.string() }), { 'a.b': 'a', secret: 1 }, { 'a.b': 'a' }],
  ['a coerced field', z.object({ a: z.coerce.string() }), { a: 1, secret: 1 }, { a: '1' }],
  ['a recursive schema', Tree, { name: 'a', children: [], secret: 1 }, { name: 'a', children: [] }],
] as [string, z.ZodType, unknown, unknown][])(
  '%s: neither adapter sends a field that the output does not list',
  async ([, schema, returned, sent]) => {
    const query = procedure
      .meta({ openapi: { method: 'GET', path: '/query' } })
      .input(z.object({}))
      .output(schema)
      .query(() => returned)
    const { send } = await startRouter(router({ query }))
    expect(JSON.parse(await send('first', '/v1/query'))).toEqual(sent)
    const input = encodeURIComponent('{"json":{}}')
    expect(JSON.parse(await send('first', `/trpc/query?input=${input}`)).result.data.json).toEqual(sent)
  },
)

test('length, range and pattern checks, and refinements of scalars, leave an output as the resolver returned it', async () => {
  const Checked = z
    .array(
      z.object({
        id: z.bigint().min(0n).max(9n).multipleOf(1n),
        text: z
          .string()
          .min(1)
          .max(9)
          .regex(/a/)
          .startsWith('a')
          .refine((text) => text !== 'b', { abort: true }),
      }),
    )
    .max(9)
  const returned = [{ id: 1n, text: 'a' }]
  const routes = router({
    query: procedure
      .input(Doubled)
      .output(Checked)
      .query(() => returned),
  })
  expect(await compileProcedure(routes, 'query')(undefined, ctx)).toBe(returned)
})

test('an input with an asynchronous refinement is accepted or refused as through the chain', async () => {
  const Even = z.object({ n: z.number() }).refine(async ({ n }) => n % 2 === 0)
  const call = compileProcedure(router({ half: procedure.input(Even).query(({ input }) => input.n / 2) }), 'half')
  expect(await call({ n: 4 }, ctx)).toBe(2)
  await expect(call({ n: 3 }, ctx)).rejects.toMatchObject({ code: 'BAD_REQUEST', cause: { issues: [{ path: [] }] } })
})

test('a procedure with a caller of its own is called through it', async () => {
  const called = procedure
    .experimental_caller(async () => 'caller')
    .input(Doubled)
    .query(() => 'resolver')
  // tRPC types such a procedure as the bare function, although routers accept it.
  const routes = router({ bare: called as unknown as AnyProcedure })
  expect(await compileProcedure(routes, 'bare')(undefined, ctx)).toBe('caller')
})

test.for(['inputs', 'middlewares', 'resolver'])(
  'a procedure whose definition lacks %s is called through the chain',
  async (name) => {
    const routes = router({
      query: procedure
        .input(Doubled)
        .output(z.object({ n: z.string() }))
        .query(({ input }) => ({ n: String(input.n), secret: 1 })),
    })
    const { query } = routes._def.procedures
    // As another version of tRPC might keep it: in the closure alone.
    const changed = Object.assign((options: Parameters<typeof query>[0]) => query(options), {
      ...query,
      _def: { ...query._def, [name]: undefined },
    })
    Object.assign(routes._def.procedures, { query: changed })
    expect(await compileProcedure(routes, 'query')({ n: 3 }, ctx)).toEqual({ n: '3' })
  },
)

test('a procedure that is not there stops the start', () => {
  expect(() => compileProcedure(router({}), 'none')).toThrow('The router has no procedure none.')
})
