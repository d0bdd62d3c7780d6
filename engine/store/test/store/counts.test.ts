import { expect, test } from 'vitest'
import { testDatabase } from '../../../test/notes/database.ts'
import type { Note } from '../../../test/notes/tables.ts'

test('notes are counted by state, exactly up to 10,000', async () => {
  const { open, execute } = await testDatabase()
  const { notes } = await open()
  const add = (state: Note['state'], count: number) =>
    execute(`
      WITH RECURSIVE counter (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counter WHERE n < ${count})
      INSERT INTO notes (body, priority, state) SELECT 'Ann', 7, '${state}' FROM counter
    `)
  await add('waiting', 3)
  await add('done', 10_000)
  expect(await notes.counts()).toEqual({
    open: { count: 0, isExact: true },
    waiting: { count: 3, isExact: true },
    done: { count: 10_000, isExact: true },
  })
  await add('done', 1)
  expect((await notes.counts()).done).toEqual({ count: 10_000, isExact: false })
  await add('done', 20_000)
  expect((await notes.counts()).done).toEqual({ count: 10_000, isExact: false })
})
