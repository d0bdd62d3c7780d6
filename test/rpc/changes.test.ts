import { describe, expect, test } from 'vitest'
import { createPetstoreClient } from '../../client/index.ts'
import { proceduresOf } from '../../engine/service/procedures/procedures.ts'
import { fetchFrom } from '../../engine/test/support/transport.ts'
import { appRouter } from '../../server/router.ts'
import { apiKeyRecord, mintApiKey, shareEmptiedTestApi } from '../support/petstore.ts'

const api = shareEmptiedTestApi()
const rex = { name: 'Rex', categoryId: 7n } as const

async function addRex() {
  return api().rpc.pets.create.mutate(rex)
}

/** The response to a streamed batch, as text. */
async function stream(path: string, inputs: object, authorization = `Bearer ${api().key}`): Promise<string> {
  const headers = { authorization, 'content-type': 'application/json', 'trpc-accept': 'application/jsonl' }
  return (await api().app.inject({ method: 'POST', url: `${path}?batch=1`, headers, payload: inputs })).body
}

/** What is wrong with a call that fails. */
function failureOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => undefined,
    ({ data }) => ({ code: data.code, message: data.message, status: data.status }),
  )
}

describe('pets.update', () => {
  test('sells, renames and moves a pet, and every read shows it at once', async () => {
    const { rpc, rest } = api()
    const { id: petId } = await addRex()
    const before = await rest.get('/v1/pets')
    const sold = { id: petId, ...rex, status: 'sold' }
    expect(await rpc.pets.update.mutate({ petId, status: 'sold' })).toEqual(sold)
    const after = await rest.get('/v1/pets', { 'if-none-match': String(before.headers.etag) })
    expect([after.status, after.headers.etag === before.headers.etag]).toEqual([200, false])
    expect(await rpc.pets.list.query({ status: 'sold' })).toEqual([sold])
    expect((await rpc.pets.counts.query()).sold.count).toBe(1)
    const renamed = { ...sold, name: 'Oscar', categoryId: 2n ** 63n - 1n }
    expect(await rpc.pets.update.mutate({ petId, name: 'Oscar', categoryId: 2n ** 63n - 1n })).toEqual(renamed)
    expect((await rpc.pets.search.query({ name: 'oscar' })).items).toEqual([renamed])
    expect((await rest.get(`/v1/pets/${petId}`)).text).toContain('"categoryId":9223372036854775807')
  })

  test('lets any status follow any other', async () => {
    const { id: petId } = await addRex()
    for (const status of ['sold', 'pending', 'sold', 'available', 'pending', 'available', 'available'] as const)
      expect(await api().rpc.pets.update.mutate({ petId, status })).toMatchObject({ status })
  })

  test('is refused if the pet is not as the caller has seen it', async () => {
    const { rpc } = api()
    const { id: petId } = await addRex()
    await rpc.pets.update.mutate({ petId, status: 'pending' })
    const late = rpc.pets.update.mutate({ petId, status: 'sold', expected: { status: 'available', name: 'Rex' } })
    const data = { code: 'conflict', message: 'Changed meanwhile: status.', status: 409 }
    await expect(late).rejects.toMatchObject({ data: { ...data, issues: [{ path: 'status', code: 'changed' }] } })
    expect(await rpc.pets.list.query()).toMatchObject([{ status: 'pending' }])
  })

  test.for<[input: object, message: string]>([
    [{}, 'expected a field to change: name, categoryId, status'],
    [{ expected: { status: 'sold' } }, 'expected a field to change: name, categoryId, status'],
    [{ name: ' ' }, 'name: expected at least one character that is not white space'],
    [{ status: 'lost' }, 'status: expected one of available, pending, sold, got "lost"'],
    [{ status: null }, 'status: expected one of available, pending, sold, got null'],
    [{ name: 'Rex', expected: { categoryId: 7 } }, 'expected.categoryId: expected a bigint such as 7n, got a number'],
    [{ name: 'Rex', expected: 'available' }, 'expected: expected an object, got a string'],
  ])('of an input that is not valid is 400: %o', async ([input, message]) => {
    const { rpc } = api()
    const { id: petId } = await addRex()
    // Safe: the service must refuse what the types exclude.
    const call = rpc.pets.update.mutate({ petId, ...input } as Parameters<typeof rpc.pets.update.mutate>[0])
    expect(await failureOf(call)).toEqual({
      code: 'invalid_request',
      message: expect.stringContaining(message),
      status: 400,
    })
    expect(await rpc.pets.list.query()).toEqual([{ id: petId, ...rex, status: 'available' }])
  })
})

describe('pets.remove', () => {
  test('returns the id, which is never used again', async () => {
    const { rpc, rest } = api()
    const { id: petId } = await addRex()
    expect(await rpc.pets.remove.mutate({ petId, expected: { name: 'Rex' } })).toEqual({ id: petId })
    expect((await rest.get(`/v1/pets/${petId}`)).status).toBe(404)
    expect(await rpc.pets.list.query()).toEqual([])
    expect((await addRex()).id).toBe(petId + 1n)
  })

  test('is refused if the pet is not as the caller has seen it', async () => {
    const { rpc } = api()
    const { id: petId } = await addRex()
    expect(await failureOf(rpc.pets.remove.mutate({ petId, expected: { status: 'sold' } }))).toMatchObject({
      status: 409,
    })
    expect(await rpc.pets.list.query()).toHaveLength(1)
  })
})

test.for([0n, -1n, 1n, 2n ** 63n - 1n, 2n ** 70n])('no pet has the id %s: 404', async (petId) => {
  const { rpc } = api()
  const missing = { code: 'not_found', status: 404 }
  expect(await failureOf(rpc.pets.update.mutate({ petId, status: 'sold' }))).toMatchObject(missing)
  expect(await failureOf(rpc.pets.remove.mutate({ petId }))).toMatchObject(missing)
})

describe('the log line of a mutation', () => {
  const lines = () =>
    api()
      .log.map((line) => JSON.parse(line))
      .filter(({ msg }) => msg === 'request')

  test('names the key and the row, and nothing of its content', async () => {
    const { rpc, log } = api()
    const { id: petId } = await addRex()
    await rpc.pets.update.mutate({ petId, name: 'Oscar', status: 'sold' })
    await rpc.pets.remove.mutate({ petId })
    await rpc.pets.list.query()
    expect(lines().slice(-4)).toMatchObject([
      { operation: 'pets.create', key: 'test', ids: [String(petId)] },
      { operation: 'pets.update', key: 'test', ids: [String(petId)] },
      { operation: 'pets.remove', key: 'test', ids: [String(petId)] },
      { operation: 'pets.list', key: 'test' },
    ])
    expect(lines().at(-1)).not.toHaveProperty('ids')
    expect(log.join()).not.toMatch(/Oscar|sold/)
  })

  test('names the rows of a batch, also of a streamed one, and of a create with REST', async () => {
    const { rest } = api()
    await rest.post('/v1/pets', { name: 'Rex', categoryId: 7 })
    expect(lines().at(-1)).toMatchObject({ adapter: 'rest', ids: ['1'] })
    const input = { json: { name: 'Rex', categoryId: '7' }, meta: { values: { categoryId: ['bigint'] } } }
    const path = '/trpc/pets.create,pets.create'
    await rest.post(`${path}?batch=1`, { 0: input, 1: input })
    expect(lines().at(-1)).toMatchObject({ operation: 'batch', ids: ['2', '3'] })
    await stream(path, { 0: input, 1: input })
    expect(lines().at(-1)).toMatchObject({ ids: ['4', '5'] })
  })
})

describe('a key that may only read', () => {
  const forbidden = { code: 'forbidden', message: 'This API key may only read.', status: 403 }

  async function readOnly() {
    const { app, store } = api()
    const key = mintApiKey()
    await store.apiKeys.create(apiKeyRecord(key, 'viewer', undefined, 'read'))
    const rpc = createPetstoreClient({ url: 'http://petstore.test', apiKey: key, fetch: fetchFrom(app) })
    return { rpc, headers: { authorization: `Bearer ${key}` } }
  }

  test('reads with both adapters, and sees its access', async () => {
    const { rpc, headers } = await readOnly()
    await addRex()
    expect((await api().rest.get('/v1/pets', headers)).status).toBe(200)
    expect(await rpc.pets.list.query()).toHaveLength(1)
    expect(await rpc.session.current.query()).toMatchObject({ keyName: 'viewer', access: 'read' })
  })

  test.for(proceduresOf(appRouter).filter(({ type }) => type === 'mutation'))(
    'gets 403 for $name, whatever its input is',
    async ({ name, meta }) => {
      const { rest, rpc } = api()
      const { headers } = await readOnly()
      const pet = await addRex()
      const valid = { json: { petId: '1', name: 'Oscar', categoryId: '7' }, meta: { values: { petId: ['bigint'] } } }
      for (const input of [valid, { json: {} }]) {
        const response = await rest.post(`/trpc/${name}`, input, headers)
        expect(response).toMatchObject({ status: 403, body: { error: { json: { data: forbidden } } } })
        expect(await stream(`/trpc/${name}`, { 0: input }, headers.authorization)).toContain('forbidden')
      }
      const { method = 'POST', path } = meta.openapi ?? {}
      // Also a body that cannot be read, or is too large, because it is not read.
      for (const payload of ['{"name":"Oscar","categoryId":7}', '{', 'x'.repeat(70_000)]) {
        const type = payload === '{' ? 'text/plain' : 'application/json'
        const request = { method, url: `/v1${path}`, payload, headers: { ...headers, 'content-type': type } }
        if (path) expect(await rest.send(request)).toMatchObject({ status: 403, body: forbidden })
      }
      expect(await rpc.pets.list.query()).toEqual([pet])
    },
  )

  test('gets no history, also after a key that may write has read the same', async () => {
    const { rest, rpc } = api()
    const viewer = await readOnly()
    const { id: petId } = await addRex()
    await rpc.pets.remove.mutate({ petId })
    // Cached.
    await rest.get('/trpc/pets.list')
    const url = '/trpc/pets.history'
    const [allowed, refused] = [await rest.get(url), await rest.get(url, viewer.headers)]
    expect([allowed.status, allowed.headers.etag, allowed.text.includes('"remove"')]).toEqual([200, undefined, true])
    expect(refused).toMatchObject({ status: 403, body: { error: { json: { data: forbidden } } } })
    // In a batch, the other call succeeds.
    const batch = await rest.get('/trpc/pets.history,pets.list?batch=1', viewer.headers)
    expect(batch.body).toMatchObject([{ error: { json: { data: forbidden } } }, { result: { data: { json: [] } } }])
    expect(refused.text + batch.text).not.toContain('Rex')
    expect(await failureOf(viewer.rpc.pets.history.query())).toEqual(forbidden)
  })

  test('with the Idempotency-Key of another key gets no result', async () => {
    const { rest } = api()
    const { headers } = await readOnly()
    await rest.post('/v1/pets', { name: 'Rex', categoryId: 7 }, { 'idempotency-key': 'a' })
    expect(
      await rest.post('/v1/pets', { name: 'Rex', categoryId: 7 }, { ...headers, 'idempotency-key': 'a' }),
    ).toMatchObject({
      status: 403,
      body: forbidden,
    })
  })
})
