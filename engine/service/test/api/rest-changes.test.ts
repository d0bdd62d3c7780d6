import { expect, test } from 'vitest'
import { z } from 'zod'
import { note } from '../../../test/notes/database.ts'
import { product, shareEmptiedTestApi, startTestApi } from '../../../test/notes/fixtures.ts'
import { NewNote, Note } from '../../../test/notes/notes.ts'
import { mutation, query, router } from '../../../test/notes/trpc.ts'
import { resource } from '../../api/resource.ts'
import { createDocument } from '../../rest/document.ts'

const { id: _, ...fields } = Note.shape
const notes = resource({ one: 'note', many: 'notes', item: Note, fields })
const changes = router({
  update: mutation({ openapi: { method: 'PATCH', path: '/notes/{noteId}' }, idempotencyKey: 'replays' })
    .input(notes.updateInput.meta({ id: 'UpdateNote' }))
    .output(Note)
    .mutation(({ ctx, input: { noteId, expected, ...set } }) =>
      notes.orNotFound(noteId, (id) => ctx.store.notes.update({ id, set, expected }, ctx.caller)),
    ),
  remove: mutation({ openapi: { method: 'DELETE', path: '/notes/{noteId}' }, idempotencyKey: 'replays' })
    .input(notes.removeInput)
    .output(notes.removeOutput)
    .mutation(({ ctx, input: { noteId, expected } }) =>
      notes.orNotFound(noteId, (id) => ctx.store.notes.remove({ id, expected }, ctx.caller)),
    ),
  close: mutation({ openapi: { method: 'POST', path: '/notes/{noteId}/done' }, idempotencyKey: 'replays' })
    .input(z.object(notes.id))
    .output(Note)
    .mutation(({ ctx, input: { noteId } }) =>
      notes.orNotFound(noteId, (id) => ctx.store.notes.update({ id, set: { state: 'done' } }, ctx.caller)),
    ),
})
const api = shareEmptiedTestApi({ router: router({ changes }) })

function remove(query = '', headers: Record<string, string> = {}) {
  return api().rest.send({ method: 'DELETE', url: `/v1/notes/${query}`, headers })
}

function patch(body: object) {
  const headers = { 'content-type': 'application/json' }
  return api().rest.send({ method: 'PATCH', url: '/v1/notes/1', headers, payload: JSON.stringify(body) })
}

test('DELETE removes a row once, also if it is repeated with its key or has the type of a body', async () => {
  const { notes } = api().store
  await notes.create(note)
  const headers = { 'idempotency-key': 'a', 'content-type': 'application/json' }
  expect(await remove('1', headers)).toMatchObject({ status: 200, body: { id: 1 } })
  expect(await remove('1', headers)).toMatchObject({ status: 200, body: { id: 1 } })
  expect(await notes.list({ limit: 9 })).toEqual([])
  const missing = { status: 404, body: { code: 'not_found', message: 'No note has the id 1.' } }
  expect(await remove('1')).toMatchObject(missing)
  expect(await remove('x')).toMatchObject({ status: 404 })
})

test('DELETE refuses what the caller has seen, which no parameter denotes, and removes nothing', async () => {
  const { notes } = api().store
  await notes.create(note)
  expect(await remove('1?expected=x')).toMatchObject({
    status: 400,
    body: { message: 'expected: expected an object, got a string' },
  })
  expect(await remove('1?expected[body]=x')).toMatchObject({
    status: 400,
    body: { message: 'input: expected no field expected[body]' },
  })
  expect(await notes.list({ limit: 9 })).toHaveLength(1)
})

test('PATCH changes what its caller has seen, and clears an optional field with null', async () => {
  await api().store.notes.create({ ...note, dueAt: new Date('2030-01-01T00:00:00Z') })
  const expected = { body: note.body, dueAt: '2030-01-01T00:00:00.000Z', bookId: null }
  const changed = { status: 200, body: { id: 1, body: 'Call Bob', priority: 1, state: 'open' } }
  expect(await patch({ body: 'Call Bob', dueAt: null, expected })).toEqual(expect.objectContaining(changed))
  expect(await patch({ body: 'Call Cid', expected })).toMatchObject({
    status: 409,
    body: { message: 'Changed meanwhile: body, dueAt.' },
  })
  const empty = 'body: expected a field to change'
  expect(await patch({})).toMatchObject({ status: 400, body: { message: expect.stringContaining(empty) } })
})

test('an operation whose input is in the path has no body', async () => {
  const { rest, store } = api()
  await store.notes.create(note)
  const closed = { status: 200, body: { id: 1, state: 'done' } }
  expect(await rest.send({ method: 'POST', url: '/v1/notes/1/done' })).toMatchObject(closed)
  expect(await rest.post('/v1/notes/1/done', {})).toMatchObject(closed)
  const { paths } = Object((await rest.get('/openapi.json')).body)
  expect(paths['/notes/{noteId}/done'].post).not.toHaveProperty('requestBody')
})

test('the document has a DELETE without a body, whose only parameters are the id and the key', async () => {
  const { paths } = Object((await api().rest.get('/openapi.json')).body)
  const { delete: removal, patch: update } = paths['/notes/{noteId}']
  expect(removal.parameters.flatMap(Object.values)).toEqual(expect.arrayContaining(['noteId', 'Idempotency-Key']))
  expect([removal.parameters.length, 'requestBody' in removal]).toEqual([2, false])
  const schema = { $ref: '#/components/schemas/UpdateNote' }
  expect(update.requestBody).toMatchObject({ content: { 'application/json': { schema } } })
})

test('the document lists the errors that follow from an operation, with the text of the product if it has one', async () => {
  const tag = { name: 'notes', description: 'The notes.' }
  const errorResponses = { 404: 'No note has this id.', 409: 'It is locked.' }
  const get = query({ tag, openapi: { method: 'GET', path: '/notes/{noteId}', errorResponses } })
    .input(notes.getInput)
    .output(Note)
    .query(({ ctx, input }) => notes.orNotFound(input.noteId, (id) => ctx.store.notes.get(id)))
  const { paths } = Object(createDocument(router({ changes, get }), product, []))
  const { get: read, patch: update, delete: removal } = paths['/notes/{noteId}']
  const statuses = [read, update, removal, paths['/notes/{noteId}/done'].post].map(({ responses }) =>
    Object.keys(responses).join(' '),
  )
  expect(statuses).toEqual([
    '200 401 404 409 default',
    '200 400 401 403 404 409 422 default',
    '200 400 401 403 404 422 default',
    '200 400 401 403 404 422 default',
  ])
  expect([read, update].map(({ responses }) => responses[404].description)).toEqual([
    'No note has this id.',
    'There is nothing at this path.',
  ])
})

test('a body of a DELETE is refused at the start', async () => {
  const empty = mutation({ openapi: { method: 'DELETE', path: '/notes' }, idempotencyKey: 'replays' })
    .input(z.object({ bodies: z.array(NewNote.shape.body) }))
    .output(z.object({}))
    .mutation(() => ({}))
  await expect(startTestApi({ router: router({ notes: router({ empty }) }) })).rejects.toThrow(
    'The parameter bodies of notes.empty cannot be served as REST, because its type is array.',
  )
})
