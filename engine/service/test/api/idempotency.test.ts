import { describe, expect, test } from 'vitest'
import { createKey, shareEmptiedTestApi } from '../../../test/notes/fixtures.ts'

const newNote = { body: 'Ann', priority: 7 }

const api = shareEmptiedTestApi()

describe('a create that is retried with its Idempotency-Key', () => {
  test('gets the first response again, byte for byte, and adds no second note', async () => {
    const { rest } = api()
    const first = await rest.post('/v1/notes', newNote, { 'idempotency-key': 'order-17' })
    const again = await rest.post('/v1/notes', newNote, { 'idempotency-key': 'order-17' })
    expect([first.status, again.status]).toEqual([201, 201])
    expect(again.text).toBe(first.text)
    expect(again.headers.location).toBe(first.headers.location)
    expect([first.headers['idempotency-replayed'], again.headers['idempotency-replayed']]).toEqual([undefined, 'true'])
    expect((await rest.get('/v1/notes')).body).toHaveLength(1)
  })

  test('may spell the same payload differently', async () => {
    const { rest } = api()
    await rest.post('/v1/notes', '{"body":"Ann","priority":7}', { 'idempotency-key': 'a' })
    const again = await rest.post('/v1/notes', '{ "state": "open", "priority": 7.0, "body": "\\u0041nn" }', {
      'idempotency-key': 'a',
    })
    expect(again).toMatchObject({ status: 201, body: { id: 1 }, headers: { 'idempotency-replayed': 'true' } })
  })

  test.for([{ body: 'Anny' }, { priority: 8 }, { state: 'done' }, { dueAt: '2026-11-20T08:30:00.000Z' }])(
    'is rejected with another payload: %o',
    async (other) => {
      const { rest } = api()
      await rest.post('/v1/notes', newNote, { 'idempotency-key': 'a' })
      const response = await rest.post('/v1/notes', { ...newNote, ...other }, { 'idempotency-key': 'a' })
      expect(response).toMatchObject({ status: 422, body: { code: 'unprocessable', status: 422 } })
      expect((await rest.get('/v1/notes')).body).toHaveLength(1)
    },
  )

  test('is a different create if another API key sends it', async () => {
    const { store, rest } = api()
    const authorization = `Bearer ${await createKey(store, 'other')}`
    await rest.post('/v1/notes', newNote, { 'idempotency-key': 'a' })
    const other = await rest.post('/v1/notes', { ...newNote, body: 'Bea' }, { 'idempotency-key': 'a', authorization })
    expect(other).toMatchObject({ status: 201, body: { id: 2, body: 'Bea' } })
  })

  test('may use the other adapter', async () => {
    const { rest, rpc } = api()
    await rest.post('/v1/notes', newNote, { 'idempotency-key': 'a' })
    const note = await rpc.notes.create.mutate({ body: 'Ann', priority: 7n }, { context: { idempotencyKey: 'a' } })
    expect(note).toMatchObject({ id: 1n, body: 'Ann' })
  })
})

describe('the header Idempotency-Key', () => {
  test.for([
    ['8e03978e-40d5-43dd-bc93-6894a57f9324', '"8e03978e-40d5-43dd-bc93-6894a57f9324"'],
    ['a\\b', String.raw`"a\\b"`],
    ["it's;q=1", '"it\'s;q=1"'],
    ['a'.repeat(255), `"${'a'.repeat(255)}"`],
  ])('may be bare or quoted: %s', async ([bare = '', quoted = '']) => {
    const { rest } = api()
    await rest.post('/v1/notes', newNote, { 'idempotency-key': bare })
    const again = await rest.post('/v1/notes', newNote, { 'idempotency-key': quoted })
    expect(again).toMatchObject({ status: 201, headers: { 'idempotency-replayed': 'true' } })
  })

  test.for(['', '""', '"a', 'a"b c', 'a b', 'a, b', '"a", "b"', 'é', 'a'.repeat(256), `"${'a'.repeat(256)}"`])(
    'is rejected as %j',
    async (key) => {
      const { rest } = api()
      const response = await rest.post('/v1/notes', newNote, { 'idempotency-key': key })
      expect(response).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
      expect(response.text).toContain('Idempotency-Key: expected a string of 1 to 255 visible ASCII characters')
      expect((await rest.get('/v1/notes')).body).toEqual([])
    },
  )

  test('is ignored on a request that changes nothing', async () => {
    const { rest } = api()
    expect((await rest.get('/v1/notes', { 'idempotency-key': 'a b' })).status).toBe(200)
  })

  test('is rejected with a batch that has more calls', async () => {
    const { rest } = api()
    const call = { json: newNote, meta: { values: { priority: ['bigint'] } } }
    for (const comma of [',', '%2C']) {
      const url = `/trpc/notes.create${comma}notes.create?batch=1`
      const response = await rest.post(url, { 0: call, 1: call }, { 'idempotency-key': 'a' })
      expect(response.text).toContain('expected as many keys as the batch has calls')
    }
    expect((await rest.get('/v1/notes')).body).toEqual([])
  })
})
