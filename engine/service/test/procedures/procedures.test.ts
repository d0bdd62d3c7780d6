import { type AnyRouter, callTRPCProcedure } from '@trpc/server'
import superjson from 'superjson'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { BaseStore } from '../../../store/collection/base-store.ts'
import { testDatabase } from '../../../test/notes/database.ts'
import { contextWith } from '../../../test/notes/fixtures.ts'
import { appRouter } from '../../../test/notes/router.ts'
import { mutation, query, router } from '../../../test/notes/trpc.ts'
import { share } from '../../../test/support/share.ts'
import type { AtEnd } from '../../../test/support/temporary.ts'
import { toApiError } from '../../api/errors.ts'
import { superjsonWriter } from '../../api/output.ts'
import { type Procedure, proceduresOf } from '../../procedures/procedures.ts'
import type { Context } from '../../procedures/trpc.ts'

/** No procedure but those of the service reads its store. */
const ctx = contextWith({} as BaseStore)
const Doubled = z.object({ n: z.number() }).prefault({ n: 1 })
/** Two stores with the same rows: each test makes the same call with both. */
const contexts = share((atEnd) => Promise.all([contextWithNote(atEnd), contextWithNote(atEnd)]))

test('the installed tRPC keeps the private fields that direct calls read', () => {
  const chained = proceduresOf(appRouter).filter(({ isDirect }) => !isDirect)
  const advice =
    'tRPC has changed private fields: these procedures go through its own chain now, which takes 30 times as long. Correct Definition in engine/service/procedures/procedures.ts. If only some are listed: their outputs have schemas that api/output.ts does not know'
  expect(
    chained.map(({ name }) => name),
    advice,
  ).toEqual([])
})

test.for(['direct', 'chained'])(
  'a %s call without an API key is refused, also where no hook has done so',
  async (name) => {
    const routes = router({
      direct: query().query(() => 'secret'),
      chained: query()
        .use(({ next }) => next())
        .query(() => 'secret'),
    })
    const { call, isDirect } = procedureOf(routes, name)
    expect(isDirect).toBe(name === 'direct')
    const { body } = toApiError(await settle(call(undefined, { ...ctx, apiKey: null })))
    expect(body).toMatchObject({ status: 401, code: 'unauthorized' })
  },
)

describe.for(proceduresOf(appRouter))('the procedure $name of the service', ({ name, type, call, output }) => {
  test('has an output that is serialized by its schema', () => {
    expect(superjsonWriter(output), 'output.ts does not know a kind of schema in the output.').not.toBe(
      superjson.stringify,
    )
  })

  test.for([
    undefined,
    null,
    {},
    { noteId: 1n },
    { noteId: 99n },
    { noteId: 2n ** 80n },
    { limit: 1, state: 'done' },
    { limit: 0 },
    { body: 'Ann', priority: 7n },
    { body: '', priority: 'x' },
    'text',
  ])('returns or throws the same as through the chain: %o', async (input) => {
    const options = { router: appRouter, path: name, type, signal: undefined, batchIndex: 0 }
    const [first, second] = contexts()
    const direct = await settle(call(input, first))
    const chained = await settle(callTRPCProcedure({ ...options, getRawInput: async () => input, ctx: second }))
    expect(withoutTimes(direct)).toEqual(withoutTimes(chained))
  })
})

test('the resolver of a direct call gets the options that tRPC documents', async () => {
  const seen: unknown[] = []
  const routes = router({
    double: query()
      .input(Doubled)
      .query((options) => {
        seen.push({ ...options })
        return options.input.n * 2
      }),
  })
  const { call } = procedureOf(routes, 'double')
  expect([await call(undefined, ctx), await call({ n: 21 }, ctx)]).toEqual([2, 42])
  // The chain would add getRawInput.
  const options = { ctx, type: 'query', path: 'double', signal: undefined, batchIndex: 0 }
  expect(seen).toEqual([
    { ...options, input: { n: 1 } },
    { ...options, input: { n: 21 } },
  ])
})

test('a procedure without an input ignores the value that it is called with', async () => {
  const bare = query()
    .output(z.array(z.string()))
    .query(({ input }) => [typeof input])
  const { call, isDirect } = procedureOf(router({ bare }), 'bare')
  expect(isDirect).toBe(true)
  expect(await call({ n: 1 }, ctx)).toEqual(['undefined'])
})

test('a procedure with a middleware, or with more than one input, is called through the chain', async () => {
  const order: string[] = []
  const noted = query().use(({ next }) => {
    order.push('middleware')
    return next()
  })
  const routes = router({
    guarded: noted.input(Doubled).query(({ input }) => input.n),
    twice: query()
      .input(z.object({ n: z.number() }))
      .input(z.object({ m: z.number() }))
      .query(({ input }) => input.n + input.m),
  })
  expect(await procedureOf(routes, 'guarded').call({ n: 3 }, ctx)).toBe(3)
  expect(order).toEqual(['middleware'])
  expect(await procedureOf(routes, 'twice').call({ n: 3, m: 4 }, ctx)).toBe(7)
})

test('an input with an asynchronous refinement is validated by the chain', async () => {
  const Even = z.object({ n: z.number() }).refine(async ({ n }) => n % 2 === 0)
  const { call } = procedureOf(
    router({
      half: query()
        .input(Even)
        .query(({ input }) => input.n / 2),
    }),
    'half',
  )
  expect(await call({ n: 4 }, ctx)).toBe(2)
  await expect(call({ n: 3 }, ctx)).rejects.toMatchObject({ code: 'BAD_REQUEST', cause: { issues: [{ path: [] }] } })
})

test('a cached mutation, and a cached query for keys that may write, stop the start, also where types are not checked', () => {
  const cached: object = { cache: true }
  const routes = [
    router({ add: mutation({ ...cached, idempotencyKey: 'ignored' }).mutation(() => 0) }),
    router({ add: query({ ...cached, access: 'write' }).query(() => 0) }),
  ]
  for (const each of routes)
    expect(() => proceduresOf(each)).toThrow('add: only a query without meta.access can have meta.cache.')
})

function procedureOf(routes: AnyRouter, name: string): Procedure {
  const found = proceduresOf(routes).find((each) => each.name === name)
  if (!found) throw new Error(`The router has no procedure ${name}.`)
  return found
}

/** A context whose store holds one note. */
async function contextWithNote(atEnd: AtEnd): Promise<Context> {
  const store = await (await testDatabase(atEnd)).open()
  await store.notes.create({ body: 'Tom', priority: 1n, state: 'done' })
  return contextWith(store)
}

/** The value without the times, which a store generates. */
function withoutTimes(value: unknown): unknown {
  if (value instanceof Date) return 'a time'
  if (Array.isArray(value)) return value.map(withoutTimes)
  if (value instanceof Error || typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withoutTimes(each)]))
}

/** The value or the error of the promise. */
function settle(promise: Promise<unknown>): Promise<unknown> {
  return promise.catch((thrown: unknown) => thrown)
}
