import { expect, test } from 'vitest'
import { note, notesDatabase } from '../../../test/notes/open.ts'

test('a field that is undefined is absent, as one that is not there', async () => {
  const store = await (await notesDatabase()).open()
  const created = await store.notes.create({ ...note, dueAt: undefined, bookId: undefined })
  expect(created).toStrictEqual({ id: 1n, ...note })
  expect(await store.notes.get(1n)).toStrictEqual(created)
  expect(await store.notes.copy({ body: 'a', priority: undefined })).toStrictEqual({ copies: 1n, body: 'a' })
})
