import { describe, expect, test } from 'vitest'
import { note, notesDatabase, shareEmptiedStore } from '../../../test/notes/database.ts'
import type { NotesStore } from '../../../test/notes/store.ts'
import { newCaller } from '../../../test/support/caller.ts'

const dueAt = new Date('2026-12-24T18:00:00.000Z')

const shared = shareEmptiedStore()

async function openNotes() {
  const { store } = shared()
  return { store, notes: store.notes, first: await store.notes.create({ ...note, dueAt }) }
}

let keys = 0
const newKey = () => newCaller(`key ${++keys}`)

describe('an update', () => {
  test('changes the given fields only, and every read shows it at once', async () => {
    const { notes, first } = await openNotes()
    const changed = { ...first, state: 'done', priority: 2n ** 62n } as const
    expect(await notes.update({ id: 1n, set: { state: 'done', priority: 2n ** 62n } })).toStrictEqual(changed)
    expect(await notes.get(1n)).toStrictEqual(changed)
    expect(await notes.list({ limit: 9, state: 'done' })).toStrictEqual([changed])
    expect(await notes.list({ limit: 9, state: 'open' })).toEqual([])
    expect((await notes.search({ limit: 9, order: 'newest', priority: 2n ** 62n })).items).toStrictEqual([changed])
    expect((await notes.counts()).done).toEqual({ count: 1, isExact: true })
  })

  test('sets, clears and keeps optional fields', async () => {
    const { store, notes, first } = await openNotes()
    const { dueAt: _, ...without } = first
    expect(await notes.update({ id: 1n, set: { dueAt: null } })).toStrictEqual(without)
    expect(await notes.get(1n)).toStrictEqual(without)
    const { id: bookId } = await store.books.create({ title: 'Faust', isLent: false })
    expect(await notes.update({ id: 1n, set: { bookId, dueAt, body: undefined } })).toStrictEqual({ ...first, bookId })
    expect(await notes.update({ id: 1n, set: {} })).toStrictEqual({ ...first, bookId })
    expect(await notes.get(1n)).toStrictEqual({ ...first, bookId })
  })

  test.for([
    [{ state: 'done' }, 'state'],
    [{ priority: 2n, body: 'Call Ann' }, 'priority'],
    [{ body: 'call Ann', dueAt: null }, 'body, dueAt'],
    [{ dueAt: new Date(Number(dueAt) + 1) }, 'dueAt'],
    [{ bookId: 1n }, 'bookId'],
  ] as const)('of a row that is not as expected changes nothing: %o', async ([expected, names]) => {
    const { notes, first } = await openNotes()
    await expect(notes.update({ id: 1n, set: { body: 'new' }, expected })).rejects.toMatchObject({
      name: 'RowChanged',
      message: `Changed meanwhile: ${names}.`,
      subject: 'notes',
    })
    expect(await notes.get(1n)).toStrictEqual(first)
  })

  test('of a row that is as expected takes effect, with every kind of field', async () => {
    const { notes, first } = await openNotes()
    const { id: _, ...expected } = first
    const change = { id: 1n, set: { body: 'new' }, expected: { ...expected, bookId: null } }
    expect(await notes.update(change)).toMatchObject({ body: 'new' })
  })

  test.for([
    { set: { body: 'third' } },
    { set: { body: 'second', dueAt: null } },
    { set: { body: 'second', dueAt } },
    { set: {} },
    { set: { body: 'second' }, expected: { priority: 1n } },
    { id: 2n, set: { body: 'second' } },
  ])('with a key that was used for another one is refused: %o', async (other) => {
    const { notes } = await openNotes()
    await notes.create({ ...note })
    const key = newKey()
    await notes.update({ id: 1n, set: { body: 'second' } }, key)
    await expect(notes.update({ id: 1n, ...other }, key)).rejects.toMatchObject({ name: 'IdempotencyKeyReused' })
    const removal = notes.remove({ id: 1n }, key)
    await expect(removal).rejects.toMatchObject({ name: 'IdempotencyKeyReused' })
  })

  test('to a value that must be unique, or that refers to nothing, is refused alone', async () => {
    const { store, notes } = await openNotes()
    for (const title of ['Faust', 'Emma']) await store.books.create({ title, isLent: false })
    const settled = await Promise.allSettled([
      store.books.update({ id: 2n, set: { title: 'Faust' } }),
      store.books.update({ id: 1n, set: { title: 'Faust' } }, newKey()),
      notes.update({ id: 1n, set: { bookId: 9n } }),
      notes.update({ id: 1n, set: { bookId: 2n } }),
    ])
    expect(settled.map((each) => (each.status === 'rejected' ? each.reason.message : 'done'))).toEqual([
      'Another one has the same title.',
      'done',
      'The bookId refers to something that is missing.',
      'done',
    ])
  })
})

describe('a removal', () => {
  test('deletes the row, and its id is never used again', async () => {
    const { notes } = await openNotes()
    await notes.create({ ...note })
    expect(await notes.remove({ id: 2n })).toStrictEqual({ id: 2n })
    expect(await notes.get(2n)).toBeUndefined()
    expect(await notes.create({ ...note })).toMatchObject({ id: 3n })
  })

  test('that is repeated with its key resolves to the id, which is all that is stored of it', async () => {
    const database = await notesDatabase()
    const { notes } = await database.open()
    await notes.create({ ...note })
    const key = newKey()
    expect(await notes.remove({ id: 1n, expected: { body: note.body } }, key)).toStrictEqual({ id: 1n })
    expect(await notes.remove({ id: 1n, expected: { body: note.body } }, key)).toStrictEqual({ id: 1n })
    expect(key.isReplay).toBe(true)
    expect(await notes.remove({ id: 1n })).toBeUndefined()
    expect(JSON.stringify(await database.execute('SELECT key, result FROM idempotency_keys'))).not.toContain('Ann')
  })

  test('of a row to which another one refers is refused alone, with a key, too', async () => {
    const { store, notes } = await openNotes()
    for (const title of ['Faust', 'Emma', 'Candide']) await store.books.create({ title, isLent: false })
    await notes.update({ id: 1n, set: { bookId: 2n } })
    const settled = await Promise.allSettled(
      [1n, 2n, 3n].flatMap((id) => [
        store.books.remove({ id }, id === 2n ? undefined : newKey()),
        store.books.remove({ id: 2n }, newKey()),
      ]),
    )
    const refusal = 'Something still refers to it.'
    expect(settled.map((each) => (each.status === 'rejected' ? each.reason.message : each.value?.id))).toEqual([
      1n,
      refusal,
      refusal,
      refusal,
      3n,
      refusal,
    ])
    expect(await store.books.list({ limit: 9 })).toMatchObject([{ id: 2n, title: 'Emma' }])
  })

  test.for(['ON DELETE RESTRICT', 'DEFERRABLE INITIALLY DEFERRED'])(
    'of a row is also refused, alone, if a table that another program has added keeps it with %s',
    async (rule) => {
      const database = await notesDatabase()
      let committed = 0
      const { books } = await database.open({ transactionCommitted: (writes) => (committed += writes) })
      await books.create({ title: 'Faust', isLent: false })
      await database.execute(`CREATE TABLE loans (book_id bigint NOT NULL REFERENCES books ${rule})`)
      await database.execute('INSERT INTO loans VALUES (1)')
      const conflict = { name: 'RowConflict', message: 'Something still refers to it.' }
      const settled = await Promise.allSettled([
        books.create({ title: 'Emma', isLent: false }, newKey()),
        books.remove({ id: 1n }),
        books.remove({ id: 1n }, newKey()),
        books.create({ title: 'Candide', isLent: false }),
      ])
      expect(settled).toMatchObject([{ value: {} }, { reason: conflict }, { reason: conflict }, { value: {} }])
      expect(await books.list({ limit: 9 })).toMatchObject([{ id: 1n }, { title: 'Emma' }, { title: 'Candide' }])
      // The observer counts each of the creates.
      expect(committed).toBe(3)
    },
  )
})

test('a key is used up neither by a call that finds no row nor by one that is refused, also in one batch', async () => {
  const { notes } = await openNotes()
  const key = () => newCaller('k')
  await expect(notes.remove({ id: 1n, expected: { body: 'other' } }, key())).rejects.toThrow('Changed meanwhile: body.')
  // The first one begins a transaction. The others share the next one.
  const calls = [
    notes.raise({ id: 1n, amount: 0n }),
    ...[77n, 78n, 1n, 1n, 79n].map((id) => notes.raise({ id, amount: 5n }, key())),
  ]
  const settled = await Promise.allSettled(calls)
  const results = settled.map((each) => (each.status === 'fulfilled' ? each.value?.priority : each.reason.name))
  expect(results).toEqual([1n, undefined, undefined, 6n, 6n, 'IdempotencyKeyReused'])
  expect(await notes.get(1n)).toMatchObject({ priority: 6n })
})

test('a field that is undefined is absent, as one that is not there', async () => {
  const { notes } = await openNotes()
  const created = await notes.create({ ...note, dueAt: undefined, bookId: undefined })
  expect(created).toStrictEqual({ id: 2n, ...note })
  expect(await notes.get(2n)).toStrictEqual(created)
  const change = { id: 2n, set: { body: undefined, priority: 5n }, expected: { priority: 1n, body: undefined } }
  expect(await notes.update(change)).toStrictEqual({ ...created, priority: 5n })
})

test('480 increments by two instances add up', async () => {
  const database = await notesDatabase()
  const stores: NotesStore[] = [await database.open(), await database.open()]
  for (const _ of '12345') await stores[0]?.notes.create({ ...note, priority: 0n })
  let done = 0
  async function increment({ notes }: NotesStore, id: bigint): Promise<void> {
    const priority = (await notes.get(id))?.priority ?? 0n
    const change = { id, set: { priority: priority + 1n }, expected: { priority } }
    try {
      await notes.update(change, done % 2 ? newKey() : undefined)
      done++
    } catch (error) {
      if (!(error instanceof Error) || error.name !== 'RowChanged') throw error
    }
  }
  const writers = stores.flatMap((store, instance) =>
    Array.from({ length: 8 }, async (_, writer) => {
      for (let i = 0; i < 30; i++) await increment(store, BigInt(1 + ((i * 3 + writer + instance) % 5)))
    }),
  )
  await Promise.all(writers)
  const rows = (await stores[0]?.notes.list({ limit: 9 })) ?? []
  expect(rows.reduce((sum, { priority }) => sum + priority, 0n)).toBe(BigInt(done))
  expect(done).toBeGreaterThan(50)
})

test('any combination of many fields can be set, with a bounded number of statements', async () => {
  const { notes } = await openNotes()
  const fields = { body: 'a', state: 'done', priority: 3n, dueAt, bookId: null } as const
  const names = Object.keys(fields) as (keyof typeof fields)[]
  for (let bits = 0; bits < 2 ** names.length; bits++) {
    const set = Object.fromEntries(names.filter((_, index) => bits & (1 << index)).map((name) => [name, fields[name]]))
    const before = await notes.create({ ...note })
    const { bookId: _, ...given } = { bookId: undefined, ...set }
    expect(await notes.update({ id: before.id, set })).toStrictEqual({ ...before, ...given })
    expect(await notes.get(before.id)).toStrictEqual({ ...before, ...given })
  }
})
