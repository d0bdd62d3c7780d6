import { fastifyTRPCPlugin } from '@trpc/server/adapters/fastify'
import fc from 'fast-check'
import { fastify, type InjectOptions } from 'fastify'
import superjson from 'superjson'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { compileProcedure, keepsValues } from '../../server/api/call.ts'
import { Pet } from '../../server/api/pets.ts'
import { appRouter } from '../../server/api/router.ts'
import { type Context, procedure, router } from '../../server/api/trpc.ts'
import { maxBatchSize } from '../../server/rpc/direct.ts'
import { superjsonWriter } from '../../server/rpc/superjson-writer.ts'
import { addPets, shareTestApi, startTestApi, type TestApi } from '../support/helpers.ts'

/** What the RPC door answers by itself it answers as tRPC's own handler would. */

const input = (value: unknown) => encodeURIComponent(JSON.stringify(superjson.serialize(value)))
const inputs = (...values: unknown[]) =>
  encodeURIComponent(JSON.stringify(Object.fromEntries(values.map((value, i) => [i, superjson.serialize(value)]))))
const json = { 'content-type': 'application/json' }
const body = (value: unknown) => JSON.stringify(superjson.serialize(value))

const withoutTrace: [what: string, request: InjectOptions][] = [
  ['a list', { url: '/trpc/pets.list' }],
  ['a list with an input', { url: `/trpc/pets.list?input=${input({ limit: 2, cursor: 1n })}` }],
  ['an empty list', { url: `/trpc/pets.list?input=${input({ cursor: 99n })}` }],
  ['an input that is empty', { url: '/trpc/pets.list?input=' }],
  [
    'an input that is given twice',
    { url: `/trpc/pets.list?input=${input({ limit: 2 })}&input=${input({ limit: 1 })}` },
  ],
  ['an input that is refused', { url: `/trpc/pets.list?input=${input({ limit: 0 })}` }],
  ['an input that is not JSON', { url: '/trpc/pets.list?input={' }],
  ['an input that is not superjson', { url: '/trpc/pets.list?input=7' }],
  ['one pet', { url: `/trpc/pets.get?input=${input({ petId: 1n })}` }],
  ['no such pet', { url: `/trpc/pets.get?input=${input({ petId: 99n })}` }],
  ['no input', { url: '/trpc/pets.get' }],
  ['a batch of one', { url: `/trpc/pets.list?batch=1&input=${inputs({ limit: 1 })}` }],
  ['a batch', { url: `/trpc/pets.list,pets.get?batch=1&input=${inputs({ limit: 1 }, { petId: 2n })}` }],
  [
    'a batch of which one fails',
    { url: `/trpc/pets.get,pets.get?batch=1&input=${inputs({ petId: 1n }, { petId: 9n })}` },
  ],
  ['a batch that fails', { url: `/trpc/pets.get,pets.get?batch=1&input=${inputs({ petId: 8n }, { petId: 9n })}` }],
  ['a batch without inputs', { url: '/trpc/pets.list,pets.get?batch=1' }],
  ['a batch whose input is a list', { url: '/trpc/pets.list?batch=1&input=[]' }],
  ['a batch with an unknown name', { url: '/trpc/pets.list,pets.none?batch=1' }],
  ['a batch of queries and mutations', { url: '/trpc/pets.list,pets.create?batch=1' }],
  ['a batch that is too large', { url: `/trpc/${Array(maxBatchSize + 1).fill('pets.list')}?batch=1` }],
  ['a batch as large as may be', { url: `/trpc/${Array(maxBatchSize).fill('pets.list')}?batch=1` }],
  ['a batch that is said to be one twice', { url: '/trpc/pets.list?batch=1&batch=1' }],
  ['a batch by another name', { url: '/trpc/pets.list?batch=true' }],
  ['two names without a batch', { url: '/trpc/pets.list,pets.list' }],
  ['an unknown name', { url: '/trpc/toString' }],
  ['an answer in pieces', { url: '/trpc/pets.list?batch=1', headers: { 'trpc-accept': 'application/jsonl' } }],
  ['connection parameters', { url: '/trpc/pets.list?connectionParams={}' }],
  ['a mutation by GET', { url: '/trpc/pets.create' }],
  ['a query by POST', { method: 'POST', url: '/trpc/pets.list', headers: json, payload: body({}) }],
  ['a creation that is refused', { method: 'POST', url: '/trpc/pets.create', headers: json, payload: body({}) }],
  ['a creation without a body', { method: 'POST', url: '/trpc/pets.create', headers: json }],
  ['a creation without a body or a type', { method: 'POST', url: '/trpc/pets.create' }],
  [
    'a batch of creations',
    { method: 'POST', url: '/trpc/pets.create?batch=1', headers: json, payload: '{"0":{"json":{}}}' },
  ],
]

describe('what leaves no trace', () => {
  const [direct, stock] = [shareTestApi(), shareTestApi()]
  beforeAll(async () => {
    for (const { store } of [direct(), stock()]) await addPets(store, 3)
  })

  test.for(withoutTrace)('%s', ([, request]) => expectSameAnswers(direct(), stock(), request))
})

test('a creation', async () => {
  const [direct, stock] = [await startTestApi(), await startTestApi()]
  for (const { store } of [direct, stock]) await addPets(store, 3)
  const payload = body({ name: 'Rex "é', categoryId: -7n })
  await expectSameAnswers(direct, stock, { method: 'POST', url: '/trpc/pets.create', headers: json, payload })
})

async function expectSameAnswers(direct: TestApi, stock: TestApi, request: InjectOptions): Promise<void> {
  const stockApp = await startStock(stock)
  const headers = { authorization: `Bearer ${direct.key}`, ...request.headers }
  const answers = [await direct.app.inject({ ...request, headers }), await stockApp.inject(request)]
  const [ours, theirs] = answers.map(({ statusCode, payload }) => ({ statusCode, body: parsed(payload) }))
  expect(ours).toEqual(theirs)
}

/** Lines of JSON, each with what superjson made of its values. */
function parsed(text: string): unknown {
  const lines = text.split('\n').filter((line) => line !== '')
  return lines.map((line) => JSON.parse(line, unwrap))
}

function unwrap(_key: string, value: unknown): unknown {
  const isSuperjson = typeof value === 'object' && value !== null && 'json' in value
  return isSuperjson ? superjson.deserialize(value as Parameters<typeof superjson.deserialize>[0]) : value
}

const Tree = z.object({
  name: z.string(),
  get children() {
    return z.array(Tree)
  },
})

/** The same procedures behind tRPC's own Fastify plugin. */
async function startStock({ store }: TestApi) {
  const [apiKey] = await store.apiKeys.list()
  if (!apiKey) throw new Error('The store has a key.')
  const app = fastify({ routerOptions: { maxParamLength: 5_000 } })
  onTestFinished(() => app.close())
  const createContext = () => ({ store, apiKey, idempotencyKey: undefined, announceReplay: () => {} })
  app.register(fastifyTRPCPlugin, { prefix: '/trpc', trpcOptions: { router: appRouter, maxBatchSize, createContext } })
  return app
}

describe('what is written as superjson', () => {
  const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
  const pet = fc.record({
    id: int64,
    name: fc.string({ unit: 'grapheme' }),
    categoryId: int64,
    status: fc.constantFrom('available', 'pending', 'sold'),
  })

  test.for([
    ['a pet', Pet, pet],
    ['a list of pets', z.array(Pet), fc.array(pet)],
    [
      'what lies deeper',
      z.object({ a: z.object({ b: z.array(z.array(z.bigint())) }), c: z.boolean() }),
      fc.record({ a: fc.record({ b: fc.array(fc.array(int64)) }), c: fc.boolean() }),
    ],
    ['what is left to superjson', z.object({ at: z.date() }), fc.record({ at: fc.date({ noInvalidDate: true }) })],
    ['a name that would have to be escaped', z.object({ 'a.b': z.bigint() }), fc.record({ 'a.b': int64 })],
    ['a recursive schema', Tree, fc.constant({ name: 'a', children: [{ name: 'b', children: [] }] })],
    ['a bare number', z.bigint(), int64],
  ] as [string, z.ZodType, fc.Arbitrary<unknown>][])('%s comes back as it was', ([, schema, values]) => {
    const write = superjsonWriter(schema)
    fc.assert(fc.property(values, (value) => void expect(superjson.parse(write(value))).toEqual(value)))
  })

  test('is what superjson itself writes', () => {
    const rex = { id: 1n, name: 'Rex', categoryId: 7n, status: 'sold' }
    const pets = [rex, { ...rex, id: 2n, categoryId: 8n }]
    expect(superjsonWriter(z.array(Pet))(pets)).toBe(superjson.stringify(pets))
    expect(superjsonWriter(z.array(Pet))([])).toBe(superjson.stringify([]))
    expect(superjsonWriter(Pet)(rex)).toBe(superjson.stringify(rex))
  })

  const escaped = z.object({ 'a.b': z.string() })
  const secret = { 'a.b': 'a', secret: 1 }
  test.for([
    ['a plain object', z.object({ a: z.string() }), { a: 'a', secret: 1 }, { a: 'a' }],
    ['a name that would have to be escaped', escaped, secret, { 'a.b': 'a' }],
    ['such a name deeper', z.array(z.object({ c: escaped })), [{ c: secret }], [{ c: { 'a.b': 'a' } }]],
    ['a coerced field', z.object({ a: z.coerce.string() }), { a: 1, secret: 1 }, { a: '1' }],
    [
      'a list with a check that writes it',
      z.array(z.string()).overwrite((all) => all.slice(1)),
      ['secret', 'a'],
      ['a'],
    ],
  ] as [string, z.ZodType, unknown, unknown][])(
    '%s holds only what its schema lists',
    async ([, schema, returned, sent]) => {
      const routes = router({
        query: procedure
          .input(z.object({}))
          .output(schema)
          .query(() => returned),
      })
      const text = superjsonWriter(schema)(await compileProcedure(routes, 'query')({}, {} as Context))
      expect(superjson.parse(text)).toEqual(sent)
    },
  )

  test('the outputs of the service are written by their schemas, without validation and without superjson', () => {
    expect([Pet, z.array(Pet)].map((schema) => keepsValues(schema))).toEqual([true, true])
  })
})
