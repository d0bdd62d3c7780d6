import { expect, test } from 'vitest'
import { keyRecord, note, onPostgres, postgresDatabase, preparePostgres } from '../../../test/notes/database.ts'
import type { NotesStore } from '../../../test/notes/store.ts'
import { connectTo, emptyDatabase, query } from '../../../test/support/postgres/databases.ts'
import { StoreUnavailable } from '../../collection/errors.ts'

test.for(['create', 'createWithKey'] as const)('%s waits until an uncommitted note is committed', async (method) => {
  const { store, other } = await startBesideTransaction()
  const created = createBy(store, method)
  await expect.poll(other.countWaiting).toBe(1)
  expect(await store.notes.list({ limit: 10, cursor: 0n })).toEqual([])
  await other.query('COMMIT')
  expect(await created).toMatchObject({ id: 2n })
  expect((await store.notes.list({ limit: 10, cursor: 0n })).map(({ id }) => id)).toEqual([1n, 2n])
})

test('creates behind an uncommitted note fail after the lock timeout, and succeed after its commit', async () => {
  const { store, other } = await startBesideTransaction({ lockTimeout: 300 })
  const creates = (['create', 'createWithKey', 'create'] as const).map((method) => createBy(store, method))
  const unavailable = { reason: expect.any(StoreUnavailable) }
  expect(await Promise.allSettled(creates)).toMatchObject(Array(3).fill(unavailable))
  await other.query('COMMIT')
  expect(await createBy(store, 'createWithKey')).toMatchObject({ id: 2n })
})

test('a client that pages through the list sees each note once and in order while three instances create notes', async () => {
  const database = postgresDatabase(await emptyDatabase())
  const stores = await Promise.all([database.open(), database.open(), database.open()])
  const created: bigint[] = []
  let isOver = false
  async function write(store: NotesStore): Promise<void> {
    for (let i = 0; i < 200; i++) created.push((await store.notes.create({ ...note })).id)
  }
  async function follow(store: NotesStore): Promise<bigint[]> {
    const seen: bigint[] = []
    for (;;) {
      const wasOver = isOver
      const page = await store.notes.list({ limit: 100, cursor: seen.at(-1) ?? 0n })
      seen.push(...page.map(({ id }) => id))
      if (wasOver && page.length === 0) return seen
    }
  }

  const followers = Promise.all([...stores, await database.open()].map(follow))
  await Promise.all(stores.flatMap((store) => Array.from({ length: 4 }, () => write(store))))
  isOver = true
  created.sort((a, b) => Number(a - b))
  for (const seen of await followers) expect(seen).toEqual(created)
})

test('of eight instances that start at once on an empty database one creates the tables and one the first key', async () => {
  const url = await emptyDatabase()
  const reports: boolean[] = []
  const onMigrate = (_names: string[], isNew: boolean) => reports.push(isNew)
  await Promise.all(Array.from({ length: 8 }, () => preparePostgres(url, { onMigrate })))
  expect(reports).toEqual([true])
  const journal = await query(url, 'SELECT name, hash FROM migrations ORDER BY name')
  expect(journal).toEqual(onPostgres.migrations.map(({ name, hash }) => ({ name, hash })))

  const stores = await Promise.all(Array.from({ length: 8 }, () => postgresDatabase(url).open()))
  const first = await Promise.all(stores.map(({ apiKeys }) => apiKeys.createFirst(keyRecord('first'))))
  expect(first.filter(Boolean)).toHaveLength(1)
})

async function createBy({ apiKeys, notes }: NotesStore, method: 'create' | 'createWithKey') {
  const [{ id: owner } = { id: 0n }] = await apiKeys.list()
  return method === 'create' ? notes.create({ ...note }) : notes.create({ ...note }, { owner, key: 'a' })
}

/** A store beside the transaction of another client, which has inserted a note and not committed it. */
async function startBesideTransaction({ lockTimeout }: { lockTimeout?: number } = {}) {
  const url = await emptyDatabase()
  const store = await postgresDatabase(lockTimeout ? `${url}?lock_timeout=${lockTimeout}` : url).open()
  await store.apiKeys.create(keyRecord('test'))
  const client = await connectTo(url)
  await client.query("BEGIN; INSERT INTO notes (body, priority, state) VALUES ('Bea', 7, 'done')")
  const waiting = "FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'"
  const countWaiting = async () => (await query(url, `SELECT pid ${waiting}`)).length
  return { url, store, other: { query: (sql: string) => client.query(sql), countWaiting } }
}
