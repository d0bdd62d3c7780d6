import { describe, expect, onTestFinished, test } from 'vitest'
import { note, notesDatabase } from '../../../test/notes/database.ts'
import { newCaller } from '../../../test/support/caller.ts'
import { Refusal } from '../../collection/errors.ts'
import { openStore } from '../../open.ts'
import { changedAt, definition } from './own-changes.ts'

const dueAt = new Date('2026-12-24T18:00:00.000Z')

async function openNotes() {
  const database = await notesDatabase()
  const transactions: number[] = []
  const observer = { transactionCommitted: (writes: number) => void transactions.push(writes) }
  const store = await openStore(definition, database.location, { busyTimeout: 1_000, observer })
  onTestFinished(() => store.close())
  const first = await store.notes.create({ ...note, dueAt })
  return { ...store, first, transactions }
}

let keys = 0
const newKey = () => newCaller(`key ${++keys}`)

const withoutAndWithKey = [
  { name: 'without a key', key: undefined },
  { name: 'with a key', key: newKey },
]

describe('a change of its own', () => {
  test('sets what its function returns of the row and its input, and leaves an entry in the history', async () => {
    const { notes, first } = await openNotes()
    const raised = { ...first, priority: 8n }
    expect(await notes.raise({ id: 1n, amount: 7n }, { owner: 1n, name: 'till' })).toStrictEqual(raised)
    const { dueAt: _, ...rest } = raised
    expect(await notes.finish({ id: 1n }, { ...newKey(), name: 'desk' })).toStrictEqual({ ...rest, state: 'done' })
    expect(await notes.get(1n)).toStrictEqual({ ...rest, state: 'done' })
    expect(await notes.history({ limit: 9 })).toMatchObject([
      { keyName: 'desk', rowId: 1n, before: { state: 'open', dueAt }, after: { state: 'done' } },
      { keyName: 'till', rowId: 1n, before: { priority: 1n }, after: { priority: 8n } },
    ])
  })

  test('may return the whole row, in which an undefined field stays', async () => {
    const { notes, books } = await openNotes()
    const { id: bookId } = await books.create({ title: 'Faust', isLent: false })
    await notes.update({ id: 1n, set: { bookId } })
    const later = new Date(Number(dueAt) + 1)
    expect(await notes.postpone({ id: 1n, dueAt: later })).toMatchObject({ dueAt: later, bookId })
    expect((await notes.history({ limit: 1 }))[0]?.after).toStrictEqual({ dueAt: later })
    await notes.postpone({ id: 1n, dueAt: later })
    expect(await notes.history({ limit: 9 })).toHaveLength(2)
  })

  test('gives a changed row the new value of $onUpdateFn, as an update does, also in the history', async () => {
    const { books } = await openNotes()
    const { addedAt, ...book } = await books.create({ title: 'Faust', isLent: false })
    expect(await books.update({ id: 1n, set: { isLent: false } })).toStrictEqual({ ...book, addedAt })
    expect(await books.history({ limit: 9 })).toEqual([])
    const lent = { ...book, isLent: true, addedAt: changedAt }
    expect(await books.lend({ id: 1n, expected: { addedAt } })).toStrictEqual(lent)
    expect(await books.get(1n)).toStrictEqual(lent)
    await expect(books.lend({ id: 1n, expected: { addedAt } })).rejects.toThrow('Changed meanwhile: addedAt.')
    expect(await books.update({ id: 1n, set: { title: 'Emil' } })).toStrictEqual({ ...lent, title: 'Emil' })
    expect(await books.history({ limit: 9 })).toMatchObject([
      { before: { title: 'Faust' }, after: { title: 'Emil' } },
      { before: { isLent: false, addedAt }, after: { isLent: true, addedAt: changedAt } },
    ])
  })

  test('takes effect once with its key, also if 20 arrive at once', async () => {
    const { notes } = await openNotes()
    const key = newKey()
    const calls = Array.from({ length: 20 }, () => notes.raise({ id: 1n, amount: 3n, limit: 50n }, { ...key }))
    for (const row of await Promise.all(calls)) expect(row).toMatchObject({ priority: 4n })
    await notes.raise({ id: 1n, amount: 5n })
    // The order of the names makes no difference, nor does an undefined value.
    const again = { expected: { priority: undefined }, limit: 50n, amount: 3n, id: 1n }
    expect(await notes.raise(again, key)).toMatchObject({ priority: 4n })
    expect(key.isReplay).toBe(true)
    expect(await notes.get(1n)).toMatchObject({ priority: 9n })
  })

  test('may get a list, which is a part of what its key stands for', async () => {
    const { notes } = await openNotes()
    const key = newKey()
    const parts = [{ amount: 3n }, { amount: 4n }]
    for (const _ of '12') expect(await notes.raiseBy({ id: 1n, parts }, key)).toMatchObject({ priority: 8n })
    const other = { id: 1n, parts: parts.toReversed() }
    await expect(notes.raiseBy(other, key)).rejects.toMatchObject({ name: 'IdempotencyKeyReused' })
  })

  test.for([{ amount: 4n }, { limit: 50n }, { id: 2n }, { expected: { priority: 1n } }])(
    'with a key that was used for another one is refused: %o',
    async (other) => {
      const { notes } = await openNotes()
      await notes.create({ ...note })
      const [key, call] = [newKey(), { id: 1n, amount: 3n }]
      await notes.raise(call, key)
      const reused = { name: 'IdempotencyKeyReused' }
      await expect(notes.raise({ ...call, ...other }, key)).rejects.toMatchObject(reused)
      await expect(notes.finish({ id: 1n }, key)).rejects.toMatchObject(reused)
      await expect(notes.update({ id: 1n, set: { priority: 3n } }, key)).rejects.toMatchObject(reused)
    },
  )

  test.for(withoutAndWithKey)('sees in a batch what those before it have made of the row, $name', async ({ key }) => {
    const { notes, transactions } = await openNotes()
    transactions.length = 0
    const settled = await Promise.allSettled([
      ...Array.from({ length: 10 }, () => notes.raise({ id: 1n, amount: 1n }, key?.())),
      notes.update({ id: 1n, set: { body: 'new' }, expected: { priority: 11n } }, key?.()),
      notes.finish({ id: 1n }, key?.()),
      notes.finish({ id: 1n }, key?.()),
      notes.raise({ id: 1n, amount: 1n }, key?.()),
    ])
    // The same class on both databases, because on SQLite another thread has refused.
    const refused = {
      reason: { name: 'Finished', code: 'conflict', message: 'The note is done.', constructor: Refusal },
    }
    expect(settled.slice(-4)).toMatchObject([{}, { value: { body: 'new' } }, refused, { value: { priority: 12n } }])
    // The first call may begin a transaction. The others share the next one.
    expect(transactions.reduce((sum, count) => sum + count)).toBe(13)
    expect(transactions.length).toBeLessThanOrEqual(2)
  })
})

describe('a mutation with statements', () => {
  test.for(withoutAndWithKey)('that throws is undone alone, and is no outage, $name', async ({ key }) => {
    const { notes, books } = await openNotes()
    await books.create({ title: 'Faust', isLent: false })
    const bodies = ['first', 'refused', 'second', 'a defect', 'third', 'refused at once', 'books again', 'fourth']
    const settled = await Promise.allSettled(bodies.map((body) => notes.add({ body }, key?.())))
    const refused = { reason: { name: 'Finished', code: 'conflict', message: 'The note is done.' } }
    const defect = {
      reason: {
        name: expect.not.stringMatching('StoreUnavailable'),
        message: expect.stringContaining('A mutation with a defect.'),
      },
    }
    const conflict = { reason: { name: 'RowConflict', message: 'A value that must be unique exists already.' } }
    expect(settled).toMatchObject([{}, refused, {}, defect, {}, refused, conflict, {}])
    const rows = await notes.list({ limit: 9 })
    expect(rows.map(({ body }) => body)).toEqual([note.body, 'first', 'second', 'third', 'fourth'])
  })

  test('gets no field that is undefined, and returns none', async () => {
    const { notes } = await openNotes()
    expect(await notes.add({ body: 'a', priority: undefined })).toStrictEqual({ id: 2n, body: 'a' })
    expect(await notes.get(2n)).toMatchObject({ priority: 0n })
  })
})

describe('a function of a change', () => {
  test.for(withoutAndWithKey)('that refuses refuses alone, and as often as it is called, $name', async ({ key }) => {
    const { notes } = await openNotes()
    await notes.create({ ...note })
    const again = key?.()
    const raise = (id: bigint, amount: bigint) => notes.raise({ id, amount }, amount > 100n ? again : key?.())
    const refused = { reason: { name: 'Refusal', code: 'unprocessable', message: 'The priority is too high.' } }
    for (const _ of '12') {
      const settled = await Promise.allSettled([raise(1n, 1n), raise(2n, 101n), raise(2n, 2n), raise(1n, 101n)])
      expect(settled).toMatchObject([{ value: { id: 1n } }, refused, { value: { id: 2n } }, refused])
    }
    expect([await notes.get(1n), await notes.get(2n)]).toMatchObject([{ priority: 3n }, { priority: 5n }])
    expect(await notes.history({ limit: 9 })).toHaveLength(4)
  })

  test.for(withoutAndWithKey)('with a defect fails alone, and is no outage of the database, $name', async ({ key }) => {
    const { notes } = await openNotes()
    await notes.create({ ...note })
    const settled = await Promise.allSettled([
      notes.raise({ id: 2n, amount: 1n }, key?.()),
      notes.fail({ id: 2n }, key?.()),
      notes.fail({ id: 2n, expected: { priority: 7n } }, key?.()),
      notes.throwText({ id: 2n }, key?.()),
      notes.nothing({ id: 2n }, key?.()),
      notes.set({ id: 2n, field: 'id', value: '7' }, key?.()),
      notes.set({ id: 2n, field: 'boody', value: 'new' }, key?.()),
      notes.set({ id: 2n, field: 'body', value: 'an object' }, key?.()),
      notes.set({ id: 2n, field: 'body', value: 'null' }, key?.()),
      // A rule of the table.
      notes.set({ id: 2n, field: 'state', value: 'lost' }, key?.()),
      notes.set({ id: 2n, field: 'body', value: 'new' }, key?.()),
      notes.raise({ id: 2n, amount: 1n }, key?.()),
    ])
    const messages = settled.map((each) => {
      if (each.status === 'fulfilled') return 'done'
      expect(each.reason.name).not.toBe('StoreUnavailable')
      return each.reason.message
    })
    // The log has to say which line of the product has the defect.
    expect(settled[1]).toMatchObject({ reason: { stack: expect.stringMatching(/at .*own-changes\.ts:\d/) } })
    expect(messages).toEqual([
      'done',
      expect.stringContaining('A change with a defect.'),
      // Then the function is not called.
      'Changed meanwhile: priority.',
      expect.stringContaining('A text.'),
      expect.stringContaining('The change nothing has returned no fields.'),
      expect.stringContaining('The change set cannot set id.'),
      expect.stringContaining('The change set cannot set boody.'),
      expect.stringContaining('got an object as a value'),
      expect.stringContaining('The change set cannot set body to null.'),
      expect.stringContaining('notes_state_known'),
      'done',
      'done',
    ])
    expect(await notes.get(2n)).toMatchObject({ body: 'new', state: 'open', priority: 3n })
    expect(await notes.history({ limit: 9 })).toHaveLength(3)
  })
})
