import { expect, test } from 'vitest'
import { shareEmptiedTestApi } from '../../../test/notes/fixtures.ts'
import { parseExactly } from '../../../test/support/exact-json.ts'

const api = shareEmptiedTestApi()
const path = '/v1/team/all-books'
const faust = { title: 'Faust', shelf: 'a b', pages: 40, isLent: false }

test('every kind of value comes back exactly, and an absent one stays absent', async () => {
  const { rest, rpc } = api()
  const body = '{"title":"A","author":"n","pages":-9223372036854775808,"isLent":false}'
  const created = await rest.post(path, body)
  expect(created.status).toBe(201)
  expect(created.text.replace(/"id":\d+,|,"addedAt":"[^"]*"/g, '')).toBe(body)
  expect((await rest.get(path)).text).toBe(`[${created.text}]`)
  expect(parseExactly(created.text)).toMatchObject({ pages: -(2n ** 63n) })
  const lean = await rpc.books.create.mutate({ title: '😀', isLent: true, author: undefined })
  expect(lean).toStrictEqual({ id: 2n, title: '😀', isLent: true, addedAt: expect.any(Date) })
  const listed = await rpc.books.list.query()
  expect(listed[0]).toStrictEqual({
    id: 1n,
    title: 'A',
    author: 'n',
    pages: -(2n ** 63n),
    isLent: false,
    addedAt: new Date(Object(created.body).addedAt),
  })
  expect(listed[1]).toStrictEqual(lean)
  expect((await rpc.books.search.query({ title: '😀' })).items).toStrictEqual([lean])
  expect((await rest.get(`${path}?isLent=true`)).text).not.toContain('author')
})

test('a list is filtered by a flag, an integer, a time and a text, and its links keep them', async () => {
  const { rest } = api()
  const created = await rest.post(path, faust)
  const filters = `shelf=a%20b&pages=40&isLent=false&addedAt=${encodeURIComponent(Object(created.body).addedAt)}`
  const page = await rest.get(`${path}?${filters}&limit=1`)
  expect(page.text).toBe(`[${created.text}]`)
  expect(page.headers.link).toContain(`&${filters}&cursor=1`)
  for (const other of ['isLent=true', 'pages=41', 'addedAt=2026-11-20T08:30:00.000Z', 'shelf=a'])
    expect((await rest.get(`${path}?${other}`)).body).toEqual([])
  const refused = await rest.get(`${path}?isLent=1`)
  expect(refused.body).toMatchObject({ status: 400, message: 'isLent: expected true or false, got a string' })
})

test.for([
  [path, faust, 'Another one has the same title.'],
  ['/v1/notes', { body: 'Ann', priority: 1, bookId: 99 }, 'The bookId refers to something that is missing.'],
] as const)(
  'a create at %s that breaks a rule of the table is 409, and its key is free',
  async ([url, item, message]) => {
    const { rest, rpc } = api()
    await rest.post(path, faust)
    const headers = { 'idempotency-key': 'a' }
    const [before, broken, after] = await Promise.all([
      rest.post(path, { ...faust, title: 'before' }),
      rest.post(url, item, headers),
      rest.post(path, { ...faust, title: 'after' }),
    ])
    expect([before?.status, after?.status]).toEqual([201, 201])
    expect(broken).toMatchObject({ status: 409, body: { code: 'conflict', message, status: 409 } })
    const again = rpc.books.create.mutate({ title: 'Faust', isLent: true })
    await expect(again).rejects.toMatchObject({
      data: { code: 'conflict', issues: [{ path: 'title', code: 'unique' }] },
    })
    const misplaced = rpc.notes.create.mutate({ body: 'Ann', priority: 1n, bookId: 99n })
    await expect(misplaced).rejects.toMatchObject({
      data: { code: 'conflict', issues: [{ path: 'bookId', code: 'reference' }] },
    })
    expect(await rest.post(path, { ...faust, title: 'new' }, headers)).toMatchObject({ status: 201 })
  },
)

test('a rule of a change of its own answers alone, with its message, in both adapters, and each time', async () => {
  const { rest, rpc, store } = api()
  await rest.post('/v1/notes', { body: 'Ann', priority: 1 })
  await rest.post('/v1/notes', { body: 'Bob', priority: 1, state: 'done' })
  const raise = (id: number, key: string) => {
    const headers = { 'content-type': 'application/json', 'idempotency-key': key }
    return rest.send({ method: 'PATCH', url: `/v1/notes/${id}/priority`, payload: '{"amount":1}', headers })
  }
  const refusal = { code: 'conflict', message: 'The note is done.', status: 409 }
  const [first, refused, last] = await Promise.all([raise(1, 'a'), raise(2, 'b'), raise(1, 'c')])
  expect([first, refused, last]).toMatchObject([{ status: 200 }, { status: 409, body: refusal }, { status: 200 }])
  expect((await raise(2, 'b')).body).toEqual(refusal)
  const settled = await Promise.allSettled([1n, 2n, 1n].map((noteId) => rpc.notes.raise.mutate({ noteId, amount: 1n })))
  expect(settled).toMatchObject([{ value: {} }, { reason: { data: refusal } }, { value: { priority: 5n } }])
  await store.notes.update({ id: 2n, set: { state: 'open' } })
  expect(await raise(2, 'b')).toMatchObject({ status: 200, body: { priority: 2 } })
})

test('the document says what a repeated mutation does, and what its body needs', async () => {
  const { paths, components } = Object((await api().rest.get('/openapi.json')).body)
  const [create, raise] = [paths['/team/all-books'].post, paths['/notes/{noteId}/priority'].patch]
  const [ofCreate, ofRaise] = [create, raise].map(({ parameters }) =>
    parameters.find((each: { in: string }) => each.in === 'header'),
  )
  expect(ofCreate.description).toContain('with the same key adds no second book: it gets')
  expect(ofRaise.description).toContain('with the same key has no second effect: it gets')
  expect(components.schemas.RaiseNote.required).toEqual(['amount'])
  expect(raise.responses[409].description).toBe('The note is done.')
})
