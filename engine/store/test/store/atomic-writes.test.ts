import { expect, test } from 'vitest'
import { ClosedStore } from '../../../store/index.ts'
import { note, notesDatabase } from '../../../test/notes/database.ts'

test.for([undefined, 'a key'])('a write of several statements that is refused stores nothing, with %s', async (key) => {
  const store = await (await notesDatabase()).open()
  const settled = await Promise.allSettled(
    Array.from({ length: 10 }, (_, index) => [
      store.notes.copy({ body: 'copy' }, key === undefined ? undefined : { owner: 1n, key: `${key} ${index}` }),
      store.notes.create({ ...note, body: `${index}` }),
    ]).flat(),
  )
  const refused = settled.filter(({ status }) => status === 'rejected')
  expect(refused).toHaveLength(7)
  for (const each of refused) expect(each).toMatchObject({ reason: { name: 'TooManyCopies', code: 'conflict' } })
  const bodies = (await store.notes.list({ limit: 100 })).map(({ body }) => body)
  expect(bodies.filter((body) => body === 'copy')).toHaveLength(3)
  expect(bodies).toHaveLength(13)
})

test('a mutation that throws an error of its own fails alone, and is no outage of the database', async () => {
  const store = await (await notesDatabase()).open()
  const bodies = ['first', 'a defect', 'second', 'a defect', 'third']
  const settled = await Promise.allSettled(
    bodies.map((body, index) => store.notes.copy({ body }, index > 2 ? { owner: 1n, key: `${index}` } : undefined)),
  )
  const defect = { reason: expect.not.objectContaining({ name: 'StoreUnavailable' }) }
  expect(settled).toMatchObject([{}, defect, {}, defect, {}])
  expect(settled[1]).toMatchObject({ reason: { message: expect.stringContaining('A copy with a defect.') } })
  expect((await store.notes.list({ limit: 9 })).map(({ body }) => body)).toEqual(['first', 'second', 'third'])
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
