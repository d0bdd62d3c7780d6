import { describe, expect, test } from 'vitest'
import { note, notesDatabase, shareEmptiedStore } from '../../../test/notes/database.ts'
import { newCaller } from '../../../test/support/caller.ts'

const dueAt = new Date('2026-12-24T18:00:00.000Z')
const day = 24 * 3_600_000

const shared = shareEmptiedStore()

/** The shared store, or one with its own number of days, with the note 1. */
async function openNotes(historyDays?: number) {
  const own = historyDays === undefined ? undefined : await notesDatabase()
  const { database, store } = own ? { database: own, store: await own.open({}, { historyDays }) } : shared()
  await store.notes.create({ ...note, dueAt })
  const entries = async () => await store.notes.history({ limit: 100 })
  return { database, store, notes: store.notes, entries }
}

let keys = 0
const newKey = () => newCaller(`key ${++keys}`)

/** Adds entries that are so many days old. */
function addOld(days: number[]): string {
  const rows = days.map(
    (age) => `('${new Date(Date.now() - age * day).toISOString()}', 'notes', 7, '{"body":"${age}"}', NULL)`,
  )
  return `INSERT INTO history (at, collection, row_id, before, after) VALUES ${rows}`
}

describe('the history', () => {
  test('has what an update has changed, before and after, when, and the name of the key', async () => {
    const { database, notes, entries } = await openNotes()
    expect(await entries()).toEqual([])
    const start = Date.now()
    await notes.update({ id: 1n, set: { state: 'done', body: note.body, dueAt: null } }, { owner: 1n, name: 'till' })
    const [entry] = await entries()
    expect(entry).toStrictEqual({
      id: expect.any(BigInt),
      at: expect.any(Date),
      keyName: 'till',
      rowId: 1n,
      kind: 'update',
      before: { state: 'open', dueAt },
      after: { state: 'done' },
    })
    // Readable in the database, too.
    expect(await database.rows('history')).toMatchObject([
      { before: `{"state":"open","dueAt":{"time":"${dueAt.toISOString()}"}}`, after: '{"state":"done"}' },
    ])
    expect(Number(entry?.at)).toBeGreaterThanOrEqual(start)
    expect(Number(entry?.at)).toBeLessThanOrEqual(Date.now())
  })

  test('has all fields of a removed row, which can be found', async () => {
    const { notes, entries } = await openNotes()
    await notes.remove({ id: 1n }, { owner: 1n, name: 'till' })
    const [entry] = await entries()
    expect(entry).toMatchObject({ rowId: 1n, kind: 'remove', keyName: 'till', before: { ...note, dueAt } })
    expect(entry).not.toHaveProperty('after')
    expect(entry?.before).not.toHaveProperty('id')
    expect(await notes.history({ limit: 9, rowId: 1n })).toStrictEqual([entry])
  })

  test('has the name of the API key and the idempotency key of each change, and none of a change without them', async () => {
    const { notes, entries } = await openNotes()
    await Promise.all([
      notes.update({ id: 1n, set: { body: 'a' } }, { owner: 1n, name: 'till' }),
      notes.update({ id: 1n, set: { body: 'b' } }),
      notes.update({ id: 1n, set: { body: 'c' } }, { ...newCaller('order-7'), name: 'office' }),
      notes.update({ id: 1n, set: { body: 'd' } }, newCaller('order-8')),
    ])
    await notes.remove({ id: 1n }, { ...newCaller('order-9'), name: 'office' })
    expect(
      (await entries()).map(({ after, keyName, idempotencyKey }) => [after?.body, keyName, idempotencyKey]),
    ).toEqual([
      [undefined, 'office', 'order-9'],
      ['d', undefined, 'order-8'],
      ['c', 'office', 'order-7'],
      ['b', undefined, undefined],
      ['a', 'till', undefined],
    ])
  })

  test.for([
    ['that sets no field', { id: 1n, set: {} }],
    ['to the same values', { id: 1n, set: { ...note, dueAt, bookId: null } }],
    ['of a row that is missing', { id: 9n, set: { body: 'new' } }],
  ] as const)('has no entry of an update %s', async ([, change]) => {
    const { notes, entries } = await openNotes()
    await notes.update(change)
    await notes.update(change, newKey())
    expect(await entries()).toEqual([])
  })

  test('has no entry of a change that fails, beside others that do not', async () => {
    const { notes, entries } = await openNotes()
    await notes.create({ ...note })
    const settled = await Promise.allSettled([
      notes.update({ id: 1n, set: { body: 'new' }, expected: { body: 'other' } }),
      notes.update({ id: 1n, set: { bookId: 99n } }),
      notes.remove({ id: 2n, expected: { state: 'done' } }),
      notes.update({ id: 2n, set: { body: '' } }),
      notes.update({ id: 2n, set: { body: 'kept' } }),
    ])
    expect(settled.map(({ status }) => status)).toEqual([...Array(4).fill('rejected'), 'fulfilled'])
    expect(await entries()).toMatchObject([{ rowId: 2n, before: { body: note.body }, after: { body: 'kept' } }])
  })

  test('has one entry of changes with the same idempotency key', async () => {
    const { notes, entries } = await openNotes()
    const till = { ...newKey(), name: 'till' }
    const change = { id: 1n, set: { body: 'new' } }
    await Promise.all([notes.update(change, { ...till }), notes.update(change, { ...till })])
    expect(await entries()).toMatchObject([{ keyName: 'till', after: { body: 'new' } }])
    await notes.update({ id: 1n, set: { body: 'newer' } })
    await notes.update(change, { ...till })
    expect(await entries()).toMatchObject([{ after: { body: 'newer' } }, { after: { body: 'new' } }])
    const removal = newKey()
    await notes.remove({ id: 1n }, { ...removal })
    await notes.remove({ id: 1n }, { ...removal })
    expect(await entries()).toHaveLength(3)
  })

  test('has each of several changes in one transaction, in their order', async () => {
    const { notes, entries } = await openNotes()
    const others = await Promise.all(Array.from({ length: 20 }, () => notes.create({ ...note })))
    await Promise.all([
      ...['a', 'b', 'c'].map((body) => notes.update({ id: 1n, set: { body } }, { owner: 1n, name: body })),
      ...others.map(({ id }) => notes.update({ id, set: { priority: id } }, { owner: 1n, name: `${id}` })),
      notes.remove({ id: 1n }, { owner: 1n, name: 'last' }),
    ])
    const own = await notes.history({ limit: 9, rowId: 1n })
    expect(own.map(({ keyName, before, after }) => [keyName, before.body, after?.body])).toEqual([
      ['last', 'c', undefined],
      ['c', 'b', 'c'],
      ['b', 'a', 'b'],
      ['a', note.body, 'a'],
    ])
    const rest = (await entries()).filter(({ rowId }) => rowId !== 1n)
    expect(rest).toHaveLength(20)
    for (const { rowId, keyName, after } of rest) expect([keyName, after?.priority]).toEqual([`${rowId}`, rowId])
  })

  test('has nothing of creates, of mutations of its own, and of collections that do not opt in', async () => {
    const { database, store } = await openNotes()
    const parts = [{ body: 'Call Ann', priority: 1n }]
    await store.books.createWithNotes({ title: 'Emil', shelf: 'North', isLent: false, notes: parts })
    const { id } = await store.books.create({ title: 'Faust', isLent: false })
    await store.books.update({ id, set: { title: 'Faust II' } })
    await store.books.remove({ id })
    expect(await database.rows('history')).toEqual([])
  })

  test('leaves out fields and choices that the table does not have any more, and other collections', async () => {
    const { database, notes, entries } = await openNotes()
    await notes.update({ id: 1n, set: { body: 'new' } })
    await database.execute(`UPDATE history SET after = '{"body":"new","gone":1,"state":"gone"}'`)
    await database.execute(addOld([1]).replace("'notes'", "'books'"))
    expect((await entries()).map(({ after }) => after)).toStrictEqual([{ body: 'new' }])
  })
})

describe('the retention', () => {
  test('deletes at most two expired entries with each change, by their time', async () => {
    const { database, notes, entries } = await openNotes()
    await database.execute(addOld([399, 401, 402, 500, 401]))
    const ages = async () => (await entries()).flatMap(({ rowId, before }) => (rowId === 7n ? before.body : []))
    await notes.update({ id: 1n, set: { body: 'a' } })
    expect(await ages()).toHaveLength(3)
    expect(await ages()).not.toContain('500')
    await notes.update({ id: 1n, set: { body: 'b' } })
    expect(await ages()).toEqual(['399'])
    await notes.update({ id: 1n, set: { body: 'c' } })
    expect(await ages()).toEqual(['399'])
  })

  test('deletes more at a start, but not all at once', async () => {
    const database = await notesDatabase()
    await (await database.open()).close()
    await database.execute(addOld([...Array(1_003).fill(401), 1]))
    // A command is no start.
    await (await database.open({}, { migrate: false })).close()
    expect(await database.execute('SELECT id FROM history')).toHaveLength(1_004)
    await database.open()
    expect(await database.execute('SELECT id FROM history')).toHaveLength(4)
  })

  test('has its own number of days', async () => {
    const { database, notes } = await openNotes(10)
    await database.execute(addOld([9, 11]))
    await notes.update({ id: 1n, set: { body: 'a' } })
    const rows = await database.execute("SELECT before FROM history WHERE before LIKE '%9%' OR row_id = 1 ORDER BY id")
    expect(rows).toMatchObject([{ before: '{"body":"9"}' }, { before: '{"body":"Call Ann"}' }])
    expect(await database.execute('SELECT id FROM history')).toHaveLength(2)
  })

  test('of 0 days records nothing, and deletes what there is', async () => {
    const { database, notes, entries } = await openNotes(0)
    await database.execute(addOld([1, 2, 3]))
    await notes.update({ id: 1n, set: { body: 'a' } }, { owner: 1n, name: 'till' })
    await notes.remove({ id: 1n })
    expect(await entries()).toEqual([])
  })
})
