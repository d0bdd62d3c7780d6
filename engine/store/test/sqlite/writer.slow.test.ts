import { join } from 'node:path'
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises'
import type Database from 'better-sqlite3'
import { expect, onTestFinished, test, vi } from 'vitest'
import { onSqlite, openFileStore, prepareSqlite } from '../../../test/notes/database.ts'
import { openDatabase } from '../../../test/support/database.ts'
import { temporaryFolder } from '../../../test/support/temporary.ts'
import { connect } from '../../sqlite/file/connection.ts'
import { openFile } from '../../sqlite/file/open-file.ts'
import { createWriter, maxCommitTime } from '../../sqlite/writer/writer.ts'

const ann = { body: 'Ann', priority: 7n, state: 'open' } as const

test('of the writes that are rejected because the disk hangs, only those of a transaction that has begun can be stored', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const path = join(temporaryFolder(), 'notes.db')
  const writer = startWriter(path, 60_000)
  const other = connect(path, { busyTimeout: 0 })
  const create = (text: string) => writer.mutate('notes.create', [text, 1n, 'done', null, null])
  await create('before')
  other.exec('BEGIN IMMEDIATE')
  const begun = create('begun')
  // Nothing shows that the thread waits for the lock.
  await wait(2_000)
  const waiting = create('waiting')
  vi.advanceTimersByTime(maxCommitTime)
  await expect(begun).rejects.toThrow('The disk does not respond. Check it')
  await expect(waiting).rejects.toThrow('The disk does not respond. Check it')
  await expect(create('refused')).rejects.toThrow('The disk does not respond. Check it')
  other.exec('ROLLBACK')
  for (let isStored = false; !isStored; await wait(10)) isStored = await create('after').then(Boolean, () => false)
  expect(bodiesIn(other)).toEqual(['before', 'begun', 'after'])
  await writer.close()
  other.close()
})

test('the time that the writer thread takes to start is not taken for a disk that hangs', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const path = join(temporaryFolder(), 'notes.db')
  const writer = startWriter(path)
  const created = writer.mutate('notes.create', [ann.body, ann.priority, ann.state, null, null])
  vi.advanceTimersByTime(2 * maxCommitTime)
  expect(await created).toMatchObject({ generated: { id: 1n } })
  await writer.close()
})

const block = (milliseconds: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)

test.each([
  ['and committed before', 20],
  ['after', 0],
])(
  'a create that was sent %s the event loop was blocked for longer than a commit may take succeeds',
  async (_, microtasks) => {
    const store = openFileStore(join(temporaryFolder(), 'notes.db'))
    await store.notes.create(ann)
    // Timers run next.
    await nextTurn()
    const created = store.notes.create(ann)
    // A write is sent in a microtask.
    for (let task = 0; task < microtasks; task++) await undefined
    block(maxCommitTime + 500)
    expect(await created).toMatchObject({ id: 2n })
  },
)

test('with 10,000 waiting writes further ones are refused, and those that wait are stored', async () => {
  const path = join(temporaryFolder(), 'notes.db')
  const store = openFileStore(path)
  const creates = Array.from({ length: 10_000 }, () => store.notes.create(ann))
  await expect(store.notes.create(ann)).rejects.toThrow('Too many writes wait for the database.')
  expect(await Promise.all(creates)).toHaveLength(10_000)
  expect(openDatabase(path).prepare('SELECT count(*) FROM notes').pluck().get()).toBe(10_000)
})

/** A writer of a new database, without a reader. */
function startWriter(path: string, busyTimeout = 0) {
  prepareSqlite(path)
  const file = openFile(path, { readonly: true })
  const writer = createWriter({ path, identities: file.identities, loaded: onSqlite, busyTimeout, onDamage: () => {} })
  onTestFinished(async () => {
    await writer.close()
    file.close()
  })
  return writer
}

function bodiesIn(connection: Database.Database): unknown[] {
  return connection.prepare('SELECT body FROM notes ORDER BY id').pluck().all()
}
