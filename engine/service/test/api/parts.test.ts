import { expect, test } from 'vitest'
import { testDatabase } from '../../../test/notes/database.ts'
import { shareEmptiedTestApi, startTestApi } from '../../../test/notes/fixtures.ts'
import { writeJson } from '../../api/literals.ts'

const parts = [
  { body: 'Call Ann', priority: 7 },
  { body: 'Call Bob', priority: 9007199254740993n },
]
const book = { title: 'Faust', shelf: 'North', isLent: false, notes: parts }
const key = { 'idempotency-key': 'a' }
const url = '/v1/team/books-with-notes'
const api = shareEmptiedTestApi()

test('a book is created with its notes, and their integers stay exact', async () => {
  const { rest, store } = api()
  const created = await rest.post(url, writeJson(book))
  expect(created).toMatchObject({ status: 201, body: { id: 1, title: 'Faust', noteIds: [1, 2] } })
  expect(created.text).toContain(`"notes":${writeJson(parts)}`)
  expect(await store.notes.list({ limit: 9 })).toMatchObject([
    { id: 1n, body: 'Call Ann', priority: 7n, state: 'open', bookId: 1n },
    { id: 2n, body: 'Call Bob', priority: 9007199254740993n, state: 'open', bookId: 1n },
  ])
})

test('it is created once with its key, by either adapter, however it is written', async () => {
  const { rest, rpc, store } = api()
  const first = await rest.post(url, writeJson(book), key)
  const notes = `[{ "priority": 7.0, "body": "\\u0043all Ann" }, { "body": "Call Bob", "priority": 9007199254740993 }]`
  const again = await rest.post(url, `{ "notes": ${notes}, "isLent": false, "shelf": "North", "title": "Faust" }`, key)
  expect(again).toMatchObject({ status: 201, text: first.text, headers: { 'idempotency-replayed': 'true' } })
  const input = { ...book, notes: parts.map(({ body, priority }) => ({ body, priority: BigInt(priority) })) }
  const context = { idempotencyKey: 'a' }
  expect(await rpc.books.createWithNotes.mutate(input, { context })).toMatchObject({
    ...input,
    id: 1n,
    noteIds: [1n, 2n],
  })
  expect(await rpc.books.createWithNotes.mutate({ ...input, title: 'Emil' })).toMatchObject({ noteIds: [3n, 4n] })
  expect([await store.books.list({ limit: 9 }), await store.notes.list({ limit: 9 })]).toMatchObject([
    { length: 2 },
    { length: 4 },
  ])
})

test('it is created once with its key also after a restart', async () => {
  const database = await testDatabase()
  const before = await startTestApi({ store: await database.open() })
  const first = await before.rest.post(url, writeJson(book), key)
  await before.store.close()
  const after = await startTestApi({ store: await database.open(), key: before.key })
  const again = await after.rest.post(url, writeJson(book), key)
  expect(again).toMatchObject({ status: 201, text: first.text, headers: { 'idempotency-replayed': 'true' } })
  expect(await after.store.notes.list({ limit: 9 })).toHaveLength(2)
})

test.for([
  ['none', []],
  ['one fewer', parts.slice(1)],
  ['one more', [...parts, { body: 'Call Cid', priority: 1 }]],
  ['another order', parts.toReversed()],
  ['another part', [parts[0], { body: 'Call Bob', priority: 9007199254740992n }]],
])('its key is refused with another list of notes: %s', async ([, notes]) => {
  const { rest, store } = api()
  await rest.post(url, writeJson(book), key)
  expect(await rest.post(url, writeJson({ ...book, notes }), key)).toMatchObject({
    status: 422,
    body: { code: 'unprocessable' },
  })
  expect(await store.books.list({ limit: 9 })).toHaveLength(1)
})

test('a shelf that is full refuses it, with none of its notes, and a wrong note is named', async () => {
  const { rest, store } = api()
  for (const title of ['1', '2', '3'])
    expect(await rest.post(url, writeJson({ ...book, title }))).toMatchObject({ status: 201 })
  const body = { code: 'conflict', message: 'The shelf is full.', status: 409 }
  expect(await rest.post(url, writeJson(book), key)).toMatchObject({ status: 409, body })
  const notes = [parts[0], { body: ' ', priority: '1' }]
  const invalid = await rest.post(url, writeJson({ ...book, notes }))
  expect(invalid).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('notes.1.priority: expected') },
  })
  expect([await store.books.list({ limit: 9 }), await store.notes.list({ limit: 9 })]).toMatchObject([
    { length: 3 },
    { length: 6 },
  ])
})

test('a query reads several tables', async () => {
  const { rest } = api()
  await rest.post(url, writeJson(book))
  const shelves = [{ shelf: 'North', books: 1, notes: 2 }]
  expect(await rest.get('/v1/team/shelves?state=open')).toMatchObject({ status: 200, body: shelves })
  expect(await rest.get('/v1/team/shelves')).toMatchObject({ status: 400 })
})
