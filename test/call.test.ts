import { expect, test } from 'vitest'
import { z } from 'zod'
import { compileProcedure } from '../server/call.ts'
import { type Context, procedure, router } from '../server/trpc.ts'

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

test('a procedure that is not there stops the start', () => {
  expect(() => compileProcedure(router({}), 'none')).toThrow('The router has no procedure none.')
})
