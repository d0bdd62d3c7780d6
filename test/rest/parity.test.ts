import { TRPCClientError } from '@trpc/client'
import { beforeAll, describe, expect, test } from 'vitest'
import { addPets, shareTestApi, startTestApi, type TestApi } from '../support/petstore.ts'

/** The same call through both adapters has the same result: the same pets, or the same error. */

const lists: { query: string; input: { limit?: number; status?: 'available' | 'sold'; cursor?: bigint } }[] = [
  { query: '', input: {} },
  { query: 'limit=2', input: { limit: 2 } },
  { query: 'status=sold', input: { status: 'sold' } },
  { query: 'cursor=3&limit=1', input: { cursor: 3n, limit: 1 } },
  { query: 'cursor=0', input: { cursor: 0n } },
  { query: 'limit=0', input: { limit: 0 } },
  { query: 'limit=101', input: { limit: 101 } },
  { query: 'cursor=-1', input: { cursor: -1n } },
  { query: 'cursor=9223372036854775808', input: { cursor: 2n ** 63n } },
  { query: 'status=lost', input: { status: 'lost' as 'sold' } },
]

describe('pets.list', () => {
  const api = shareTestApi()
  beforeAll(() => addPets(api().store, 5))

  test.for(lists)('?$query', async ({ query, input }) => {
    expect(await throughRest(api(), `/v1/pets?${query}`)).toEqual(await throughRpc(api().rpc.pets.list.query(input)))
  })
})

describe('pets.get', () => {
  const api = shareTestApi()
  beforeAll(() => addPets(api().store, 1))

  test.for([1n, 2n, 0n, -1n, 2n ** 63n - 1n, 2n ** 63n, -(2n ** 63n) - 1n])('%s', async (petId) => {
    expect(await throughRest(api(), `/v1/pets/${petId}`)).toEqual(await throughRpc(api().rpc.pets.get.query({ petId })))
  })
})

const creates: [json: string, input: unknown][] = [
  ['{"name":"Rex","categoryId":7}', { name: 'Rex', categoryId: 7n }],
  ['{"name":"Rex","categoryId":7,"status":"sold","id":9}', { name: 'Rex', categoryId: 7n, status: 'sold', id: 9n }],
  ['{"name":"","categoryId":7}', { name: '', categoryId: 7n }],
  ['{"name":"a\\u0000","categoryId":7}', { name: 'a\u0000', categoryId: 7n }],
  ['{"name":"Rex","categoryId":9223372036854775808}', { name: 'Rex', categoryId: 2n ** 63n }],
  ['{"name":"Rex","categoryId":"7"}', { name: 'Rex', categoryId: '7' }],
  ['{"name":"Rex","categoryId":7.5}', { name: 'Rex', categoryId: 7.5 }],
  ['{"name":null,"status":"lost"}', { name: null, status: 'lost' }],
  ['{}', {}],
]

describe('pets.create', () => {
  test.for(creates)('%s', async ([json, input]) => {
    const [rest, rpc] = [await startTestApi(), await startTestApi()]
    const created = throughRpc(rpc.rpc.pets.create.mutate(input as { name: string; categoryId: bigint }))
    expect(await throughRest(rest, '/v1/pets', json)).toEqual(await created)
  })
})

async function throughRest({ rest }: TestApi, url: string, body?: string): Promise<unknown> {
  return withBigInts((await (body === undefined ? rest.get(url) : rest.post(url, body))).body)
}

async function throughRpc(call: Promise<unknown>): Promise<unknown> {
  try {
    return await call
  } catch (error) {
    if (!(error instanceof TRPCClientError)) throw error
    const { code, message, status } = error.data
    return { code, message, status: BigInt(status) }
  }
}

function withBigInts(body: unknown): unknown {
  return JSON.parse(
    JSON.stringify(body, (_key, value) => (typeof value === 'bigint' ? `${value}n` : value)),
    (_key, value) =>
      typeof value === 'number' || /^-?\d+n$/.test(value) ? BigInt(String(value).replace('n', '')) : value,
  )
}
