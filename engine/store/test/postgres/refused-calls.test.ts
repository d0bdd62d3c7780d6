import { Client } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import type { NotesStore } from '../notes/definition.ts'
import { note, notesDatabase } from '../notes/open.ts'

async function addNotes(store: NotesStore, count: number): Promise<bigint[]> {
  return (await Promise.all(Array.from({ length: count }, () => store.notes.create({ ...note })))).map(({ id }) => id)
}

/** Milliseconds of creates and further calls that share batches. */
async function timeOf(store: NotesStore, more: (() => Promise<unknown>)[]): Promise<number> {
  const start = performance.now()
  const creates = Array.from({ length: 500 }, () => () => store.notes.create({ ...note }))
  // The first one begins a transaction. The others share the next one.
  await Promise.allSettled([store.notes.create({ ...note }), ...[...creates, ...more].map((call) => call())])
  return performance.now() - start
}

test('two instances that change the same rows in opposite orders do not wait for each other without end', async () => {
  const database = await notesDatabase()
  const [a, b] = [await database.open(), await database.open()]
  const ids = await addNotes(a, 100)
  for (let round = 0; round < 5; round++) {
    const settled = await Promise.allSettled([
      ...ids.map((id) => a.notes.raise({ id, by: 1n })),
      ...ids.toReversed().map((id) => b.notes.raise({ id, by: 1n })),
    ])
    expect(settled.filter(({ status }) => status === 'rejected')).toEqual([])
  }
  expect((await a.notes.list({ limit: 100 })).map(({ priority }) => priority)).toEqual(ids.map(() => 11n))
})

test('a deadlock that another program causes is repeated once', async () => {
  const database = await notesDatabase()
  const store = await database.open()
  const [first = 0n, second = 0n] = await addNotes(store, 2)
  if (database.location.kind !== 'postgres') throw new Error('This test needs PostgreSQL.')
  const other = new Client({ connectionString: database.location.url })
  await other.connect()
  onTestFinished(() => other.end())
  // So that the server chooses the transaction of the store.
  await other.query("SET deadlock_timeout = '1h'; BEGIN")
  await other.query('UPDATE notes SET body = $1 WHERE id = $2', ['by hand', second])
  const create = store.notes.create({ ...note })
  const raises = [first, second].map((id) => store.notes.raise({ id, by: 1n }))
  await expect.poll(() => database.execute('SELECT FROM pg_locks WHERE NOT granted')).toHaveLength(1)
  await other.query('UPDATE notes SET body = $1 WHERE id = $2', ['by hand', first])
  await other.query('COMMIT')
  await create
  expect(await Promise.all(raises)).toEqual([
    { id: first, by: 1n, priority: 2n },
    { id: second, by: 1n, priority: 2n },
  ])
  expect(await store.notes.get(second)).toMatchObject({ body: 'by hand', priority: 2n })
})

test('a refused call costs the others of its batch nothing', async () => {
  const store = await (await notesDatabase()).open()
  const refused = () => store.notes.raise({ id: 99_999n, by: 1n })
  const raised = async () => store.notes.raise({ id: 1n, by: 1n })
  await timeOf(store, [raised])
  const times = { none: 0, one: 0 }
  for (let round = 0; round < 3; round++) {
    times.none += await timeOf(store, [raised])
    times.one += await timeOf(store, [refused])
  }
  expect(times.one / times.none).toBeLessThan(2)
})

test('a call that a constraint refuses fails alone, and is found in a few steps', async () => {
  const store = await (await notesDatabase()).open()
  const [book] = [await store.books.create({ title: 'Faust' })]
  const missing = () => store.notes.create({ ...note, bookId: 99n })
  await timeOf(store, [])
  const times = [await timeOf(store, []), await timeOf(store, [missing])] as const
  expect(times[1] / times[0]).toBeLessThan(20)
  const settled = await Promise.allSettled([
    store.notes.create({ ...note, bookId: book.id }),
    ...Array.from({ length: 40 }, (_, index) => [
      store.notes.create({ ...note, body: `${index}`, bookId: index % 10 === 3 ? 99n : book.id }),
      store.books.create({ title: index % 9 === 4 ? 'Faust' : `Book ${index}` }, { owner: 1n, key: `${index}` }),
    ]).flat(),
  ])
  const refused = settled.flatMap((each) => (each.status === 'rejected' ? [each.reason.message] : []))
  expect(refused.toSorted()).toEqual([
    ...Array(4).fill('A value that must be unique exists already.'),
    ...Array(4).fill('The input refers to something that is missing.'),
  ])
  // A key that was refused is not used up.
  expect(await store.books.create({ title: 'New' }, { owner: 1n, key: '4' })).toMatchObject({ title: 'New' })
})
