import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openFileStore } from '../../../test/notes/database.ts'
import { addNotes, startTestApi } from '../../../test/notes/fixtures.ts'
import { openDatabase } from '../../../test/support/database.ts'
import { temporaryFolder } from '../../../test/support/temporary.ts'

/** What another program has written without the rules of the tables. */
test.for([
  [
    'a text as an integer',
    `CREATE TABLE lax (id INTEGER PRIMARY KEY, body, priority, state, due_at, book_id); INSERT INTO lax SELECT * FROM notes;
    DROP TABLE notes; ALTER TABLE lax RENAME TO notes; UPDATE notes SET priority = 'seven' WHERE id = 2`,
    'priority: expected an integer, got a string',
  ],
  [
    'a time that does not exist',
    "PRAGMA ignore_check_constraints = ON; UPDATE notes SET due_at = 'yesterday' WHERE id = 2",
    'dueAt: expected a time in UTC with milliseconds, such as 2026-11-20T08:30:00.000Z',
  ],
] as const)('a page with %s is 500, and the log names the row', async ([, sql, problem]) => {
  const path = join(temporaryFolder(), 'notes.db')
  const { rest, store, log } = await startTestApi({ store: openFileStore(path) })
  await addNotes(store, 3)
  openDatabase(path).exec(sql)
  const page = await rest.get('/v1/notes')
  expect([page.status, page.text]).toEqual([500, expect.not.stringContaining('seven')])
  for (const procedure of ['list', 'search']) expect((await rest.get(`/trpc/notes.${procedure}`)).status).toBe(500)
  expect((await rest.get('/v1/notes/2')).status).toBe(500)
  expect((await rest.get('/v1/notes/3')).status).toBe(200)
  const faults = log.map((line) => JSON.parse(line)).filter(({ level }) => level === 'error')
  // The same cause is logged once a second.
  const messages = new Set(faults.map(({ msg }) => msg))
  expect([...messages]).toEqual([expect.stringContaining(`The row with the id 2 cannot be read: ${problem}`)])
})
