import { expect, test } from 'vitest'
import { note, notesDatabase } from '../../../test/notes/open.ts'

test('a key that several calls of a batch share is not used up by those that find no row', async () => {
  const store = await (await notesDatabase()).open()
  const { id } = await store.notes.create({ ...note })
  const key = () => ({ owner: 1n, key: 'k', isReplay: false })
  // The first one begins a transaction. The others share the next one.
  const calls = [undefined, 77n, 78n, id, id, 79n].map((note) =>
    note === undefined ? store.notes.raise({ id, amount: 0n }) : store.notes.raise({ id: note, amount: 5n }, key()),
  )
  const settled = await Promise.allSettled(calls)
  expect(settled.map((each) => (each.status === 'fulfilled' ? each.value?.priority : each.reason.name))).toEqual([
    1n,
    undefined,
    undefined,
    6n,
    6n,
    'IdempotencyKeyReused',
  ])
  expect(await store.notes.get(id)).toMatchObject({ priority: 6n })
})
