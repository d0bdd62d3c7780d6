import { TRPCClientError } from '@trpc/client'
import { describe, expect, test } from 'vitest'
import { createPetstoreClient, isPetstoreError, type NewPet } from '../../client/index.ts'
import { proceduresOf } from '../../engine/service/procedures/procedures.ts'
import { fetchFrom } from '../../engine/test/support/transport.ts'
import { appRouter } from '../../server/router.ts'
import { addPets, shareEmptiedTestApi, startTestApi } from '../support/petstore.ts'

const api = shareEmptiedTestApi()

describe('the typed client', () => {
  test('creates, gets and lists pets', async () => {
    const { rpc } = api()
    const pet = await rpc.pets.create.mutate({ name: 'Rex', categoryId: 7n, status: 'sold' })
    expect(pet).toEqual({ id: 1n, name: 'Rex', categoryId: 7n, status: 'sold' })
    expect(await rpc.pets.get.query({ petId: 1n })).toEqual(pet)
    expect(await rpc.pets.list.query({ status: 'sold' })).toEqual([pet])
  })

  test('searches by an id, words of a name in any case, a category and a status', async () => {
    const { rpc } = api()
    const added = [
      { name: 'Molly', categoryId: 2n ** 63n - 1n, status: 'sold' },
      { name: 'MOLLY', categoryId: 1n },
      { name: 'Mo%', categoryId: 1n },
      { name: 'Élan', categoryId: 1n },
    ] as const
    for (const pet of added) await rpc.pets.create.mutate(pet)
    const idsOf = async (query: Parameters<typeof rpc.pets.search.query>[0]) =>
      (await rpc.pets.search.query(query)).items.map(({ id }) => id)
    expect(await idsOf(undefined)).toEqual([4n, 3n, 2n, 1n])
    expect(await idsOf({ limit: 2, cursor: 4n })).toEqual([3n, 2n])
    expect(await idsOf({ order: 'oldest', cursor: 2n })).toEqual([3n, 4n])
    expect(await idsOf({ id: 1n })).toEqual([1n])
    expect(await idsOf({ categoryId: 2n ** 63n - 1n })).toEqual([1n])
    expect(await idsOf({ name: 'oL' })).toEqual([2n, 1n])
    expect(await idsOf({ name: 'mo', limit: 1, cursor: 2n })).toEqual([1n])
    expect(await idsOf({ name: 'mo', status: 'sold' })).toEqual([1n])
    expect(await idsOf({ name: 'o', categoryId: 1n })).toEqual([3n, 2n])
    expect(await idsOf({ name: 'o%' })).toEqual([3n])
    expect([await idsOf({ name: 'y OL' }), await idsOf({ name: 'elan' })]).toEqual([[2n, 1n], [4n]])
    expect([await idsOf({ name: 'éLAN' }), await idsOf({ name: 'e\u0301l' })]).toEqual([[4n], [4n]])
    expect(await rpc.pets.search.query({ name: 'élan' })).toMatchObject({ searched: 4 })
  })

  test.for([
    [{ name: '' }, { path: 'name', expectation: '1 to 255 characters' }],
    [{ name: '\0' }, { path: 'name', expectation: 'no NUL' }],
    [{ name: '\ud800' }, { path: 'name', expectation: 'Unicode text' }],
    [{ categoryId: 2n ** 63n }, { path: 'categoryId', expectation: 'a 64-bit integer' }],
    [{ cursor: -1n }, { path: 'cursor', expectation: 'the id of a pet' }],
    [{ limit: 101 }, { path: 'limit', expectation: 'an integer from 1 to 100' }],
  ] as const)('refuses the search %o', async ([input, issue]) => {
    const error = await api()
      .rpc.pets.search.query(input)
      .catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ data: { code: 'invalid_request', status: 400, issues: [issue] } })
  })

  test('calls of the same tick share one request, at most twenty of them', async () => {
    const { app, key } = api()
    const fetched: string[] = []
    const fetch = fetchFrom(app)
    const rpc = createPetstoreClient({
      url: 'http://petstore.test/',
      apiKey: key,
      fetch: (input, init) => {
        fetched.push(String(input))
        return fetch(input, init)
      },
    })
    await Promise.all(Array.from({ length: 25 }, () => rpc.pets.list.query()))
    expect(fetched.map((url) => new URL(url).pathname.split(',').length)).toEqual([20, 5])
  })

  test('a failed call rejects with code, message and status', async () => {
    const error = await api()
      .rpc.pets.get.query({ petId: 1n })
      .catch((thrown) => thrown)
    expect(error).toBeInstanceOf(TRPCClientError)
    expect(error.data).not.toHaveProperty('issues')
    expect(error).toMatchObject({
      message: 'No pet has the id 1.',
      data: { code: 'not_found', message: 'No pet has the id 1.', status: 404, path: 'pets.get' },
    })
  })

  const issue = (path: string, code: string, expectation: string) => ({ path, code, expectation })
  const blank = 'at least one character that is not white space'
  const large = { ...issue('categoryId', 'too_big', 'a 64-bit integer'), maximum: '9223372036854775807' }

  test.for<[input: unknown, ...issues: object[]]>([
    [{}, { path: 'name', code: 'required' }, { path: 'categoryId', code: 'required' }],
    [undefined, { path: 'input', code: 'required' }],
    [null, issue('input', 'invalid_type', 'an object')],
    [{ name: 7, categoryId: 7n }, issue('name', 'invalid_type', 'a string')],
    [
      { name: '', categoryId: 7n },
      { ...issue('name', 'length', '1 to 255 characters'), minimum: 1, maximum: 255 },
    ],
    [{ name: '\ud800', categoryId: 7n }, issue('name', 'unicode', 'Unicode text')],
    [{ name: 'a\n', categoryId: 7n }, issue('name', 'control', 'no control characters')],
    [{ name: ' ', categoryId: 7n }, issue('name', 'blank', blank)],
    [{ name: 'Rex', categoryId: 2n ** 63n }, large],
    [
      { name: 'Rex', categoryId: 7n, status: 'lost' },
      issue('status', 'invalid_value', 'one of available, pending, sold'),
    ],
  ])('a create with the input %o rejects with an issue for each invalid field', async ([input, ...issues]) => {
    // Not a NewPet: that is what the service has to find.
    const error = await api()
      .rpc.pets.create.mutate(input as NewPet)
      .catch((thrown) => thrown)
    if (!isPetstoreError(error)) throw error
    expect(error.data?.issues).toEqual(issues)
  })
})

describe('the RPC adapter', () => {
  test('sends counts as JSON numbers, which need no annotation of superjson', async () => {
    const none = '{"count":0,"isExact":true}'
    const { text } = await api().rest.get('/trpc/pets.counts')
    expect(text).toBe(`{"result":{"data":{"json":{"available":${none},"pending":${none},"sold":${none}}}}}`)
  })

  test('HEAD works as GET, without a body and behind the same key check', async () => {
    const { rest, store } = api()
    await addPets(store, 1)
    const input = encodeURIComponent('{"json":{"petId":"9"},"meta":{"values":{"petId":["bigint"]}}}')
    for (const path of [
      ...['pets.list', 'pets.counts', 'pets.list?batch=1', 'pets.list,pets.counts?batch=1'],
      ...[
        'pets.get',
        `pets.get?input=${input}`,
        'pets.create',
        'pets.none',
        'pets.list?input=notjson',
        'pets.list?batch=2',
      ],
    ]) {
      const [get, head] = [await rest.get(`/trpc/${path}`), await rest.send({ method: 'HEAD', url: `/trpc/${path}` })]
      expect(head, path).toMatchObject({ status: get.status, text: '' })
      for (const name of ['content-type', 'content-length', 'allow'])
        expect(head.headers[name], `${name} of ${path}`).toBe(get.headers[name])
    }
    const streamed = { 'trpc-accept': 'application/jsonl' }
    expect(await rest.send({ method: 'HEAD', url: '/trpc/pets.list?batch=1', headers: streamed })).toMatchObject({
      status: 200,
      text: '',
    })
    const anonymous = await rest.send({ method: 'HEAD', url: '/trpc/pets.list', headers: { authorization: '' } })
    expect(anonymous).toMatchObject({ status: 401, text: '' })
  })

  test('a procedure called with another method is 405, and Allow lists its methods', async () => {
    for (const [method, url, allow] of [
      ['GET', '/trpc/pets.create', 'POST'],
      ['POST', '/trpc/pets.list', 'GET, HEAD'],
    ] as const) {
      expect(await api().rest.send({ method, url })).toMatchObject({ status: 405, headers: { allow } })
    }
  })

  test('each create of a batch has its own idempotency key', async () => {
    const { rest, store } = api()
    const send = (keys: string, ...names: string[]) =>
      rest.post(
        `/trpc/${names.map(() => 'pets.create')}?batch=1`,
        JSON.stringify({
          ...names.map((name) => ({ json: { name, categoryId: '7' }, meta: { values: { categoryId: ['bigint'] } } })),
        }),
        { 'idempotency-key': keys },
      )
    const first = await send('"a,\\"b", "c"', 'Rex', 'Tom')
    expect([first.status, first.headers['idempotency-replayed']]).toEqual([200, undefined])
    const second = await send('"c","d" ,  "e"', 'Tom', 'Max', '')
    expect([second.status, second.headers['idempotency-replayed']]).toEqual([207, 'true, false, false'])
    const alone = await send('"a,\\"b"', 'Rex')
    expect([alone.status, alone.headers['idempotency-replayed']]).toEqual([200, 'true'])
    expect((await store.pets.list({ limit: 9, cursor: 0n })).map(({ name }) => name)).toEqual(['Rex', 'Tom', 'Max'])
  })

  test('a path that is encoded twice, which would hide calls from the rate limit, is rejected', async () => {
    const { rest } = await startTestApi({ config: { rateLimit: { requests: 5, seconds: 60 } } })
    const call = { json: { name: 'Rex', categoryId: '7' }, meta: { values: { categoryId: ['bigint'] } } }
    const created = await rest.post('/trpc/pets.create%252Cpets.create?batch=1', { 0: call, 1: call })
    expect(created).toMatchObject({ status: 400, body: { error: { json: { data: { code: 'invalid_request' } } } } })
    expect((await rest.get('/trpc/pets.list%252Cpets.list?batch=1')).status).toBe(404)
    expect((await rest.get('/v1/pets')).body).toEqual([])
  })

  test('the procedures of the router are served, and nothing else', async () => {
    const { rest } = api()
    for (const { name } of proceduresOf(appRouter)) expect((await rest.get(`/trpc/${name}`)).status, name).not.toBe(404)
    for (const path of ['', '/pets.delete', '/pets', '/pets.list.x', '/constructor', '/__proto__', '/pets.__proto__']) {
      expect(await rest.get(`/trpc${path}`)).toMatchObject({
        status: 404,
        body: { error: { json: { data: { code: 'not_found' } } } },
      })
    }
  })
})
