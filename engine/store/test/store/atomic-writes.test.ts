import { describe, expect, test } from 'vitest'
import { ClosedStore } from '../../../store/index.ts'
import { note, notesDatabase } from '../../../test/notes/database.ts'

describe('a book that is created with its notes', () => {
  const book = { title: 'Faust', shelf: 'North', isLent: false }
  const parts = ['a', 'b'].map((body) => ({ body, priority: 1n }))

  test('is there with all of them', async () => {
    const store = await (await notesDatabase()).open()
    const { id, addedAt, noteIds, ...rest } = await store.books.createWithNotes({ ...book, notes: parts })
    expect(rest).toStrictEqual({ ...book, notes: parts })
    expect(await store.books.get(id)).toStrictEqual({ ...book, id, addedAt })
    const added = parts.map((part, index) => ({ ...part, id: noteIds[index], state: 'open', bookId: id }))
    expect(await store.notes.list({ limit: 9 })).toStrictEqual(added)
    const { noteIds: none } = await store.books.createWithNotes({ ...book, title: 'Emil', notes: [] })
    expect(none).toEqual([])
  })

  test.for([undefined, 'a key'])(
    'is refused alone for what other rows, or one of its notes, break, with %s',
    async (key) => {
      const store = await (await notesDatabase()).open()
      const create = (title: string, notes = parts) => {
        const caller = key === undefined ? undefined : { owner: 1n, key: `${key} ${title} ${notes.length}` }
        return store.books.createWithNotes({ ...book, title, notes }, caller)
      }
      const blank = [...parts, { body: ' ', priority: 1n }]
      const settled = await Promise.allSettled([create('1'), create('2', blank), create('3'), create('4'), create('5')])
      const [rule, full] = [
        { message: expect.stringContaining('notes_body_not_blank') },
        { name: 'Refusal', message: 'The shelf is full.' },
      ]
      expect(settled).toMatchObject([{}, { reason: rule }, {}, {}, { reason: full }])
      await expect(create('1', [])).rejects.toMatchObject(full)
      expect((await store.books.list({ limit: 9 })).map(({ title }) => title)).toEqual(['1', '3', '4'])
      expect(await store.notes.list({ limit: 9 })).toHaveLength(6)
      // Neither has used up its key.
      await store.books.update({ id: 1n, set: { shelf: 'South' } })
      expect(await create('5')).toMatchObject({ title: '5' })
    },
  )
})

test('a read of several tables sees all of them, and fails when the store is closed', async () => {
  const store = await (await notesDatabase()).open()
  const isLent = false
  const [{ id }] = await Promise.all([
    store.books.create({ title: 'Faust', shelf: 'South', isLent }),
    store.books.create({ title: 'Emil', shelf: 'North', isLent }),
    store.books.create({ title: 'Momo', shelf: 'North', isLent }),
    store.books.create({ title: 'Heidi', isLent }),
  ])
  for (const state of ['open', 'open', 'done'] as const) await store.notes.create({ ...note, state, bookId: id })
  expect(await store.books.shelves('open')).toStrictEqual([
    { shelf: 'North', books: 2n, notes: 0n },
    { shelf: 'South', books: 1n, notes: 2n },
  ])
  await store.close()
  await expect(store.books.shelves('open')).rejects.toThrow('The database is closed')
})

test('writes of several collections share a transaction, and one that fails leaves the others in effect', async () => {
  const transactions: number[] = []
  const store = await (await notesDatabase()).open({ transactionCommitted: (writes) => void transactions.push(writes) })
  const { id } = await store.notes.create({ ...note, priority: 0n })
  const done = await store.notes.create({ ...note, state: 'done' })
  transactions.length = 0
  const writes = await Promise.allSettled(
    Array.from({ length: 20 }, (_, index) => [
      store.notes.create({ ...note, body: `${index}` }),
      store.books.create({ title: `book ${index}`, isLent: false }),
      store.notes.raise({ id: index === 9 ? done.id : id, amount: 1n }),
    ]).flat(),
  )
  expect(writes.filter(({ status }) => status === 'rejected')).toMatchObject([{ reason: { name: 'Refusal' } }])
  // Neighbours are of different collections, so three writes that share a transaction are of both.
  expect(Math.max(...transactions)).toBeGreaterThan(2)
  expect(transactions.reduce((sum, count) => sum + count)).toBe(59)
  const [notes, books] = [await store.notes.list({ limit: 99 }), await store.books.list({ limit: 99 })]
  expect([notes.length, books.length, notes[0]?.priority]).toEqual([22, 20, 19n])
})

test('a close waits for the writes of the same turn, and refuses later ones', async () => {
  const database = await notesDatabase()
  const store = await database.open()
  const writes = Array.from({ length: 30 }, () => store.notes.create({ ...note }))
  await store.close()
  await expect(store.notes.create({ ...note })).rejects.toThrow(ClosedStore)
  await expect(store.notes.get(1n)).rejects.toThrow(ClosedStore)
  expect(await store.close()).toBeUndefined()
  expect((await Promise.all(writes)).length).toBe(30)
  expect(await (await database.open()).notes.list({ limit: 50 })).toHaveLength(30)
})
