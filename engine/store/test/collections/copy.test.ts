import { expect, test } from 'vitest'
import { copies, note, notesDatabase, tableNames } from '../../../test/notes/database.ts'
import { definition } from '../../../test/notes/store.ts'
import { copyStore } from '../../copy/copy-store.ts'

test.for(copies)('a copy from $from to $to has every row, its history, and the results of its keys', async (kinds) => {
  const from = await notesDatabase(kinds.from)
  const [to, back] = [await notesDatabase(kinds.to), await notesDatabase(kinds.from)]
  const source = await from.open()
  const [first, second] = ['a', 'b'].map((key) => ({ owner: 0n, key }))
  const book = { title: 'Faust', isLent: true, pages: -(2n ** 63n) }
  const created = await source.books.create(book, first)
  await source.books.create({ title: 'removed', isLent: false, shelf: '' })
  await source.books.remove({ id: 2n })
  await source.notes.create({ ...note, body: `O'Hara "\\x" NULL {}`, bookId: 1n, dueAt: new Date(0) })
  const raised = await source.notes.raise({ id: 1n, amount: 5n }, second)
  await source.notes.create({ ...note, dueAt: new Date(0) })
  await source.notes.update({ id: 2n, set: { priority: 2n ** 62n, body: 'Минка 🐈' } }, { owner: 1n, name: 'till' })
  await source.notes.remove({ id: 2n })
  const all = { limit: 9 }
  const [books, notes, history] = await Promise.all([
    source.books.list(all),
    source.notes.list(all),
    source.notes.history(all),
  ])
  await source.close()

  const tables = await copyStore({ definition, from: from.location, to: to.location })
  const counts: Record<string, number> = { books: 1, notes: 1, idempotency_keys: 2, history: 3 }
  expect(tables.map(({ name, rows }) => [name, rows])).toEqual(tableNames.map((name) => [name, counts[name] ?? 0]))
  expect(await copyStore({ definition, from: to.location, to: back.location })).toEqual(tables)

  const target = await to.open()
  expect([await target.books.list(all), await target.notes.list(all)]).toStrictEqual([books, notes])
  expect(await target.notes.history(all)).toStrictEqual(history)
  expect(await target.notes.raise({ id: 1n, amount: 5n }, second)).toEqual(raised)
  expect(await target.books.create(book, first)).toStrictEqual(created)
  expect(await target.books.create({ title: 'new', isLent: false })).toMatchObject({ id: 3n })
  await target.notes.remove({ id: 1n }, { owner: 1n, name: 'till' })
  expect(await target.notes.history(all)).toMatchObject([{ rowId: 1n }, ...history])
})
