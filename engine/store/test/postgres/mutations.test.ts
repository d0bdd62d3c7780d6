import { sql } from 'drizzle-orm'
import { sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { DatabaseError } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { note, notesDatabase } from '../../../test/notes/database.ts'
import type { NotesStore } from '../../../test/notes/store.ts'
import { books, notes } from '../../../test/notes/tables.ts'
import { connectTo, countWaiting } from '../../../test/support/postgres/databases.ts'
import { int64 } from '../../collection/schema.ts'
import { mutationOf } from '../../postgres/change.ts'
import type { BatchMutation } from '../../postgres/collection.ts'
import { openPool } from '../../postgres/connection/connection.ts'
import { failuresOf } from '../../postgres/connection/failure.ts'
import { prepareMutations } from '../../postgres/mutations.ts'
import { sqlTextOf } from '../../postgres/statements.ts'
import { postgresTableOf } from '../../postgres/table.ts'

async function addNotes(store: NotesStore, count: number): Promise<bigint[]> {
  return (await Promise.all(Array.from({ length: count }, () => store.notes.create({ ...note })))).map(({ id }) => id)
}

/** The number of transactions of 101 creates and a further call that shares a batch with 100 of them. */
async function countTransactions(further: (store: NotesStore) => Promise<unknown>): Promise<number> {
  let transactions = 0
  const store = await (await notesDatabase()).open({ transactionCommitted: () => void transactions++ })
  // The first one begins a transaction. The others share the next one.
  const [last] = await Promise.allSettled([store.notes.create({ ...note }), addNotes(store, 100), further(store)])
  expect(last.status).toBe('fulfilled')
  expect(await store.notes.list({ limit: 200 })).toHaveLength(101)
  return transactions
}

test('two instances that change the same rows in opposite orders do not wait for each other without end', async () => {
  const database = await notesDatabase()
  const [a, b] = [await database.open(), await database.open()]
  const ids = await addNotes(a, 100)
  for (let round = 0; round < 5; round++) {
    const settled = await Promise.allSettled([
      ...ids.map((id) => a.notes.raise({ id, amount: 1n })),
      ...ids.toReversed().map((id) => b.notes.raise({ id, amount: 1n })),
    ])
    expect(settled.filter(({ status }) => status === 'rejected')).toEqual([])
  }
  expect((await a.notes.list({ limit: 100 })).map(({ priority }) => priority)).toEqual(ids.map(() => 11n))
})

type TestDatabase = Awaited<ReturnType<typeof notesDatabase>>

function urlOf({ location }: TestDatabase): string {
  if (location.kind !== 'postgres') throw new Error('This test needs PostgreSQL.')
  return location.url
}

/** Adds a trigger to the notes, of another program. */
async function addTrigger(database: TestDatabase, event: string, body: string): Promise<void> {
  await database.execute(`CREATE FUNCTION own() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body} END $$;
    CREATE TRIGGER own BEFORE ${event} ON notes FOR EACH ROW EXECUTE FUNCTION own()`)
}

/** A mutation with statements, of which each call gets one value. */
function runStatements(url: string, run: BatchMutation['run']) {
  const pool = openPool(url)
  onTestFinished(() => pool.end())
  const table = postgresTableOf(notes)
  const commit = prepareMutations(pool, failuresOf([table]))
  const mutation = { kind: 'changes', hasOrderedIds: false, probe: '', run } as const
  return (values: unknown[]) =>
    commit(values.map((value) => ({ operation: 'notes.run', mutation, table, values: [value] })))
}

test('a change of a row that another program has locked fails alone, and later compares with what that has made', async () => {
  const database = await notesDatabase()
  const store = await database.open()
  await addNotes(store, 3)
  const other = await connectTo(urlOf(database))
  await other.query("BEGIN; UPDATE notes SET body = 'by hand' WHERE id = 2")
  const expected = { body: note.body }
  const changes = await Promise.allSettled([
    store.notes.create({ ...note }),
    store.notes.update({ id: 1n, set: { priority: 2n } }),
    store.notes.update({ id: 2n, set: { priority: 2n } }),
    store.notes.remove({ id: 2n, expected }, { owner: 1n, key: 'a' }),
    store.notes.update({ id: 3n, set: { priority: 2n } }),
    store.notes.update({ id: 99n, set: { priority: 2n } }),
  ])
  const busy = { reason: { name: 'StoreUnavailable', failure: 'busy', isRetryable: true } }
  expect(changes).toMatchObject([{}, { value: { id: 1n } }, busy, busy, { value: { id: 3n } }, { value: undefined }])
  await other.query('COMMIT')
  const conflict = { reason: { message: 'Changed meanwhile: body.' } }
  expect(
    await Promise.allSettled([
      store.notes.update({ id: 2n, set: { priority: 2n } }),
      store.notes.remove({ id: 2n, expected }, { owner: 1n, key: 'a' }),
    ]),
  ).toMatchObject([{ value: { body: 'by hand', priority: 2n } }, conflict])
  const rows = await store.notes.list({ limit: 9 })
  expect(rows.map(({ body, priority }) => [body, priority])).toEqual([
    [note.body, 2n],
    ['by hand', 2n],
    [note.body, 2n],
    [note.body, 1n],
  ])
})

test('a deadlock that another program causes is repeated once', async () => {
  const database = await notesDatabase()
  const store = await database.open()
  const [first = 0n, second = 0n] = await addNotes(store, 2)
  const other = await connectTo(urlOf(database))
  // So that the server chooses the transaction of the store.
  await other.query("SET deadlock_timeout = '1h'; BEGIN")
  await other.query('UPDATE notes SET body = $1 WHERE id = $2', ['by hand', second])
  const raises = runStatements(urlOf(database), async (client, rows) => {
    for (const [id] of rows)
      await client.query({ text: 'UPDATE notes SET priority = priority + 1 WHERE id = $1', values: [id] })
    return rows.map(() => ({}))
  })([first, second])
  await expect.poll(() => countWaiting(urlOf(database))).toBe(1)
  await other.query('UPDATE notes SET body = $1 WHERE id = $2', ['by hand', first])
  await other.query('COMMIT')
  expect(await raises).toMatchObject([{ value: {} }, { value: {} }])
  for (const id of [first, second]) expect(await store.notes.get(id)).toMatchObject({ body: 'by hand', priority: 2n })
})

test.for<[string, (store: NotesStore) => Promise<unknown>]>([
  ['a change refuses', (store) => store.notes.update({ id: 1n, set: {}, expected: { body: 'old' } })],
  ['a constraint refuses', (store) => store.notes.create({ ...note, bookId: 99n })],
  ['finds no row', (store) => store.notes.update({ id: 99_999n, set: { priority: 2n } })],
])('a call that %s does not divide its batch into transactions', async ([, further]) => {
  expect(await countTransactions(further)).toBe(2)
})

test('calls that constraints refuse fail alone', async () => {
  const store = await (await notesDatabase()).open()
  const book = await store.books.create({ title: 'Faust', isLent: false })
  const settled = await Promise.allSettled([
    store.notes.create({ ...note, bookId: book.id }),
    ...Array.from({ length: 40 }, (_, index) => [
      store.notes.create({ ...note, body: `${index}`, bookId: index % 10 === 3 ? 99n : book.id }),
      store.books.create(
        { title: index % 9 === 4 ? 'Faust' : `Book ${index}`, isLent: false },
        { owner: 1n, key: `${index}` },
      ),
    ]).flat(),
  ])
  const refused = settled.flatMap((each) => (each.status === 'rejected' ? [each.reason.message] : []))
  expect(refused.toSorted()).toEqual([
    ...Array(4).fill('Another one has the same title.'),
    ...Array(4).fill('The bookId refers to something that is missing.'),
  ])
  // A key that was refused is not used up.
  expect(await store.books.create({ title: 'New', isLent: false }, { owner: 1n, key: '4' })).toMatchObject({
    title: 'New',
  })
})

test('calls of which a constraint refuses every second one are divided, so that none takes the time of all', async () => {
  const { open, execute } = await notesDatabase()
  const store = await open()
  const create = (title: string) => store.books.create({ title, isLent: false })
  await create('Faust')
  await execute(
    "CREATE FUNCTION take_time() RETURNS trigger AS 'BEGIN PERFORM pg_sleep(0.005); RETURN NEW; END' LANGUAGE plpgsql",
  )
  await execute('CREATE TRIGGER take_time BEFORE INSERT ON books FOR EACH ROW EXECUTE FUNCTION take_time()')
  const titles = Array.from({ length: 200 }, (_, index) => (index % 2 ? 'Faust' : `Book ${index}`))
  const settled = await Promise.allSettled(titles.map(create))
  expect(settled.flatMap((each) => (each.status === 'rejected' ? [each.reason.message] : []))).toEqual(
    Array(100).fill('Another one has the same title.'),
  )
})

test('a call that a constraint refuses leaves the connections open', async () => {
  const database = await notesDatabase()
  const store = await database.open()
  await store.books.create({ title: 'Faust', isLent: false })
  const other = await connectTo(urlOf(database))
  async function sessions(): Promise<unknown[]> {
    const { rows } = await other.query(`SELECT pid FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid() ORDER BY pid`)
    return rows
  }
  const refused = (key: string) => store.books.create({ title: 'Faust', isLent: false }, { owner: 1n, key })
  await expect(refused('a')).rejects.toMatchObject({ name: 'RowConflict' })
  const before = await sessions()
  for (const key of ['b', 'c']) await expect(refused(key)).rejects.toMatchObject({ name: 'RowConflict' })
  expect(await sessions()).toEqual(before)
})

test.for(['UPDATE', 'DELETE'])('a trigger that ignores the %s of a row makes its call fail alone', async (event) => {
  const database = await notesDatabase()
  const { notes } = await database.open()
  const [first, second] = [await notes.create({ ...note }), await notes.create({ ...note })]
  await addTrigger(database, event, `IF OLD.id = ${first.id} THEN RETURN NULL; END IF; RETURN coalesce(NEW, OLD);`)
  const change = ({ id }: { id: bigint }) =>
    event === 'UPDATE' ? notes.update({ id, set: { body: 'new' } }) : notes.remove({ id })
  const [ignored, changed] = await Promise.allSettled([change(first), change(second)])
  const message = 'A trigger of another program has ignored a change.'
  expect(ignored).toMatchObject({ reason: { message, subject: 'notes' } })
  expect(changed.status).toBe('fulfilled')
  const rest = event === 'UPDATE' ? [first, { ...second, body: 'new' }] : [first]
  expect(await notes.list({ limit: 9 })).toEqual(rest)
})

test('creates of which a trigger ignores one are not run again', async () => {
  const database = await notesDatabase()
  const { notes } = await database.open()
  await addTrigger(database, 'INSERT', 'IF NEW.priority = 7 THEN RETURN NULL; END IF; RETURN NEW;')
  // The first one is a batch by itself.
  const settled = await Promise.allSettled([1n, 2n, 7n, 3n].map((priority) => notes.create({ ...note, priority })))
  expect(settled.map(({ status }) => status)).toEqual(['fulfilled', ...Array(3).fill('rejected')])
  expect((await notes.list({ limit: 9 })).map(({ priority }) => priority)).toEqual([1n, 2n, 3n])
})

test('a call whose statement has failed is refused, also if its mutation catches the error', async () => {
  const database = await notesDatabase()
  await database.open()
  const divide = runStatements(urlOf(database), async (client, rows) => {
    for (const [divisor] of rows) await client.query(`SELECT 1 / ${divisor}`).catch(() => {})
    return rows.map(() => ({}))
  })
  expect(await divide([1, 0, 2])).toMatchObject([
    { value: {} },
    { error: { message: 'PostgreSQL refused a value.' } },
    { value: {} },
  ])
})

test('statements of a product that leave a row without its reference fail alone, and their error says no side', async () => {
  const database = await notesDatabase()
  const store = await database.open()
  const kept = await store.books.create({ title: 'Faust', isLent: false })
  const other = await store.books.create({ title: 'Emma', isLent: false })
  await store.notes.create({ ...note, bookId: kept.id })
  const purge = runStatements(urlOf(database), async (client, rows) => {
    for (const [id] of rows) await client.query({ text: 'DELETE FROM books WHERE id = $1', values: [id] })
    return rows.map(() => ({}))
  })
  const message = 'This would leave a reference to something that is missing.'
  expect(await purge([kept.id, other.id])).toMatchObject([{ error: { name: 'RowConflict', message } }, { value: {} }])
})

test('a uniqueness of another table names no field of that of the call', () => {
  const shelves = postgresTableOf(
    sqliteTable('shelves', { id: int64('id').primaryKey({ autoIncrement: true }), title: text() }),
  )
  const { storeError } = failuresOf([shelves, postgresTableOf(books)])
  const details = { code: '23505', constraint: 'books_title', detail: 'Key (title)=(Faust) already exists.' }
  const error = Object.assign(new DatabaseError('', 0, 'error'), details, { table: 'books' })
  const call = { operation: 'shelves.createWithBooks', mutation: undefined, values: [], table: shelves }
  const message = 'A value that must be unique exists already.'
  expect(storeError(error, call)).toMatchObject({ name: 'RowConflict', message, fields: [] })
  const ofCall = { ...call, table: postgresTableOf(books) }
  expect(storeError(error, ofCall)).toMatchObject({ message: 'Another one has the same title.', fields: ['title'] })
})

test('statements of a product generate ids, unless their mutation says that they do not', () => {
  const mutation = { fields: [], run: async () => [] }
  const all = [mutation, { ...mutation, hasOrderedIds: false }].map(mutationOf)
  expect(all.map(({ hasOrderedIds }) => hasOrderedIds)).toEqual([true, false])
})

test('an update without fields does not write the row', async () => {
  const database = await notesDatabase()
  const { notes } = await database.open()
  const created = await notes.create({ ...note })
  await addTrigger(database, 'UPDATE', "RAISE EXCEPTION 'no';")
  expect(await notes.update({ id: created.id, set: {} })).toEqual(created)
})

const [id, name] = [sql.placeholder('id'), sql.placeholder('name')]

test('a placeholder is the value of the field with its name, wherever and however often it occurs', () => {
  const statement = sql`UPDATE t SET name = ${name}, first = coalesce(first, ${name}) WHERE id = ${id}`
  expect(sqlTextOf(statement, ['id', 'name'])).toBe('UPDATE t SET name = $2, first = coalesce(first, $2) WHERE id = $1')
})

test.for([
  ['a placeholder without its field', sql`SELECT ${name}`, ['id']],
  ['a placeholder without fields', sql`SELECT ${name}`, undefined],
  ['a value', sql`SELECT ${1n}`, ['id']],
] as const)('%s is refused', ([, statement, fields]) => {
  expect(() => sqlTextOf(statement, fields)).toThrow('placeholder')
})

test('a value that is too large for an index, or what a trigger refuses, fails alone', async () => {
  const database = await notesDatabase()
  const store = await database.open()
  await addTrigger(database, 'INSERT', "IF new.body = 'Bob' THEN RAISE EXCEPTION 'no'; END IF; RETURN new;")
  // Compression must not make it small enough.
  const title = Array.from({ length: 5_000 }, (_, index) => String.fromCodePoint(0x4e00 + ((index * 7_919) % 20_000)))
  const settled = await Promise.allSettled([
    store.books.create({ title: 'Faust', isLent: false }),
    store.books.create({ title: 'Emma', isLent: false }),
    store.books.create({ title: title.join(''), isLent: false }),
    store.notes.create({ ...note, body: 'Bob' }),
    store.notes.create({ ...note }),
  ])
  const [done, refused] = ['fulfilled', 'rejected']
  expect(settled.map(({ status }) => status)).toEqual([done, done, refused, refused, done])
  for (const each of settled) if ('reason' in each) expect(each.reason.name).not.toBe('StoreUnavailable')
})
