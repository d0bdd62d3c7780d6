import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { note, openFileStore, openTestStore } from '../../../test/notes/database.ts'
import { openDatabase } from '../../../test/support/database.ts'
import { temporaryFolder } from '../../../test/support/temporary.ts'

test('a read that begins after a create resolved finds the note, while other reads run in every turn of the event loop', async () => {
  const store = await openTestStore()
  let isDone = false
  const reading = readInEachTurn()
  for (let i = 1n; i <= 50n; i++) {
    const { id } = await store.notes.create({ ...note, priority: i })
    expect(await store.notes.get(id)).toMatchObject({ priority: i })
  }
  isDone = true
  await reading

  async function readInEachTurn(): Promise<void> {
    while (!isDone) {
      await store.notes.get(1n)
      await nextTurn()
    }
  }
})

test('reads in one snapshot see no commit meanwhile, also after one that fails, and the next read sees it', async () => {
  const path = join(temporaryFolder(), 'notes.db')
  const store = openFileStore(path)
  await store.notes.create({ ...note, priority: 1n })
  const database = openDatabase(path)
  const priorityNow = () => store.notes.get(1n).then((note) => note?.priority)
  const reads: Promise<unknown>[] = []
  store.inOneSnapshot(() => {
    reads.push(priorityNow())
    database.exec('UPDATE notes SET priority = 8')
    reads.push(priorityNow())
  })
  reads.push(priorityNow())
  database.exec('ALTER TABLE notes RENAME TO hidden')
  store.inOneSnapshot(() => void reads.push(priorityNow().catch(() => 'failed')))
  database.exec('ALTER TABLE hidden RENAME TO notes; UPDATE notes SET priority = 9')
  reads.push(priorityNow())
  expect(await Promise.all(reads)).toEqual([1n, 1n, 8n, 'failed', 9n])
})
