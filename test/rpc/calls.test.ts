import { fastifyTRPCPlugin } from '@trpc/server/adapters/fastify'
import { fastify, type InjectOptions } from 'fastify'
import superjson from 'superjson'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { maxBatchSize } from '../../engine/service/rpc/calls.ts'
import { appRouter } from '../../server/router.ts'
import { addPets, contextWith, shareTestApi, startTestApi, type TestApi } from '../support/petstore.ts'

/**
 * The RPC adapter sends the same responses as tRPC's own handler. `http-errors.test.ts` of the service has the errors for
 * which it has messages of its own.
 */

const input = (value: unknown) => encodeURIComponent(JSON.stringify(superjson.serialize(value)))
const inputs = (...values: unknown[]) =>
  encodeURIComponent(JSON.stringify(Object.fromEntries(values.map((value, i) => [i, superjson.serialize(value)]))))
const json = { 'content-type': 'application/json' }
const body = (value: unknown) => JSON.stringify(superjson.serialize(value))

const get = (path: string) => ({ url: `/trpc/${path}` })
const create = (path: string, payload?: string): InjectOptions => ({
  method: 'POST',
  ...get(path),
  headers: json,
  ...(payload && { payload }),
})

const readOnly: [what: string, request: InjectOptions][] = [
  ['a list', get('pets.list')],
  ['a list with an input', get(`pets.list?input=${input({ limit: 2, cursor: 1n })}`)],
  ['an empty list', get(`pets.list?input=${input({ cursor: 99n })}`)],
  ['an input that is empty', get('pets.list?input=')],
  ['an input that is rejected', get(`pets.list?input=${input({ limit: 0 })}`)],
  ['the counts', get('pets.counts')],
  ['an input that the procedure does not have', get(`pets.counts?input=${input({ limit: 0 })}`)],
  ['one pet', get(`pets.get?input=${input({ petId: 1n })}`)],
  ['no such pet', get(`pets.get?input=${input({ petId: 99n })}`)],
  ['no input', get('pets.get')],
  ['a batch of one', get(`pets.list?batch=1&input=${inputs({ limit: 1 })}`)],
  ['a batch', get(`pets.list,pets.get?batch=1&input=${inputs({ limit: 1 }, { petId: 2n })}`)],
  ['a batch of which one fails', get(`pets.get,pets.get?batch=1&input=${inputs({ petId: 1n }, { petId: 9n })}`)],
  ['a batch that fails', get(`pets.get,pets.get?batch=1&input=${inputs({ petId: 8n }, { petId: 9n })}`)],
  ['a batch without inputs', get('pets.list,pets.get?batch=1')],
  ['a batch of the maximum size', get(`${Array(maxBatchSize).fill('pets.list')}?batch=1`)],
  ['connection parameters', get('pets.list?connectionParams={}')],
  ['a create that is rejected', create('pets.create', body({}))],
  ['a create without a body', create('pets.create')],
  ['a batch of creates', create('pets.create,pets.create?batch=1', '{"0":{"json":{}}}')],
]

describe('a request that changes nothing', () => {
  const [direct, stock] = [shareTestApi(), shareTestApi()]
  beforeAll(async () => {
    for (const { store } of [direct(), stock()]) await addPets(store, 3)
  })

  test.for(readOnly)('%s: the response is that of tRPC', ([, request]) =>
    expectSameResponses(direct(), stock(), request),
  )
})

test('the response to a create is that of tRPC', async () => {
  const [direct, stock] = [await startTestApi(), await startTestApi()]
  for (const { store } of [direct, stock]) await addPets(store, 3)
  const payload = body({ name: 'Rex "é', categoryId: -7n })
  await expectSameResponses(direct, stock, create('pets.create', payload))
})

async function expectSameResponses(direct: TestApi, stock: TestApi, request: InjectOptions): Promise<void> {
  const stockApp = await startStock(stock)
  const headers = { authorization: `Bearer ${direct.key}`, ...request.headers }
  const responses = [await direct.app.inject({ ...request, headers }), await stockApp.inject(request)]
  const [ours, theirs] = responses.map(({ statusCode, payload }) => ({ statusCode, body: parsed(payload) }))
  expect(ours).toEqual(theirs)
}

/** Parses lines of JSON, and the superjson values in them. */
function parsed(text: string): unknown {
  const lines = text.split('\n').filter((line) => line !== '')
  return lines.map((line) => JSON.parse(line, unwrap))
}

function unwrap(_key: string, value: unknown): unknown {
  const isSuperjson = typeof value === 'object' && value !== null && 'json' in value
  return isSuperjson ? superjson.deserialize(value as Parameters<typeof superjson.deserialize>[0]) : value
}

/** The same procedures behind tRPC's own Fastify plugin. */
async function startStock({ store }: TestApi) {
  const app = fastify({ routerOptions: { maxParamLength: 5_000 } })
  onTestFinished(() => app.close())
  const createContext = () => contextWith(store)
  app.register(fastifyTRPCPlugin, { prefix: '/trpc', trpcOptions: { router: appRouter, maxBatchSize, createContext } })
  return app
}
