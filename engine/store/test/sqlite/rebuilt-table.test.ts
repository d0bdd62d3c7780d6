import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { sqliteDatabase } from '../../../test/notes/database.ts'
import { definition } from '../../../test/notes/store.ts'
import { openDatabase } from '../../../test/support/database.ts'
import { temporaryFolder } from '../../../test/support/temporary.ts'
import { copyStore } from '../../copy/copy-store.ts'
import { inspect } from '../../open.ts'

/** What `sqlite-utils transform` and editors of tables do. */
const rebuild = `BEGIN;
  CREATE TABLE notes_new (id INTEGER PRIMARY KEY, body TEXT NOT NULL, priority INTEGER NOT NULL, state TEXT NOT NULL, due_at TEXT,
    book_id INTEGER);
  INSERT INTO notes_new SELECT * FROM notes; DROP TABLE notes; ALTER TABLE notes_new RENAME TO notes; COMMIT`

async function databaseWithNote() {
  const path = join(temporaryFolder(), 'notes.db')
  const database = sqliteDatabase(path)
  const store = await database.open()
  await store.notes.create({ body: 'Ann', priority: 7n, state: 'done', dueAt: new Date() })
  return { ...database, path, store }
}

const problem =
  /table notes lacks STRICT, AUTOINCREMENT, notes_id_positive, .+notes_state_known, .+notes_by_state; .+ "notes db copy"/

describe('a table that another program has rebuilt without its rules', () => {
  test('makes the store unready, and stops the start with a sentence that names them', async () => {
    const { store, execute, open, location } = await databaseWithNote()
    await store.check()
    await execute(rebuild)
    await expect(store.check()).rejects.toThrow(problem)
    await expect(open()).rejects.toThrow(problem)
    const inspection = await inspect(definition, location)
    expect(await inspection?.schema()).toMatchObject({ problem: expect.stringMatching(problem) })
    await inspection?.close()
  })

  test('is repaired by a copy, which names a row that breaks a rule', async () => {
    const { execute, location, store: damaged } = await databaseWithNote()
    await execute(rebuild)
    await damaged.close()
    const target = sqliteDatabase(join(temporaryFolder(), 'repaired.db'))
    await execute("INSERT INTO notes (body, priority, state) VALUES ('Tim', 'seven', 'done')")
    const copy = () => copyStore({ definition, from: location, to: target.location })
    await expect(copy()).rejects.toThrow(/the row 2 of notes: cannot store TEXT value in INTEGER column/)
    await execute("UPDATE notes SET priority = 8 WHERE typeof(priority) = 'text'")
    await copy()
    const store = await target.open()
    expect(await store.notes.list({ limit: 9, cursor: 0n })).toMatchObject([{ body: 'Ann' }, { body: 'Tim' }])
  })

  test.for([
    ['body TEXT NOT NULL', 'body TEXT', 'NOT NULL of body'],
    ['due_at TEXT', 'due_at TEXT NOT NULL', 'NULL of due_at'],
    [' REFERENCES books (id)', '', 'FOREIGN KEY (book_id) REFERENCES books'],
    ['REFERENCES books', 'REFERENCES notes', 'FOREIGN KEY (book_id) REFERENCES books'],
  ] as const)('stops the start if %s became %s', async ([from, to, missing]) => {
    const { open, path } = await databaseWithNote()
    const database = openDatabase(path)
    const select = database.prepare("SELECT sql FROM sqlite_schema WHERE name = 'notes'").pluck()
    const sql = String(select.get())
    database.unsafeMode()
    database.pragma('writable_schema = ON')
    database.prepare("UPDATE sqlite_schema SET sql = ? WHERE name = 'notes'").run(sql.replace(from, to))
    expect(select.get()).not.toBe(sql)
    database.close()
    await expect(open()).rejects.toThrow(`table notes lacks ${missing};`)
  })

  test('is accepted with its rules in another layout', async () => {
    const { execute, open, path } = await databaseWithNote()
    const sql = openDatabase(path).prepare("SELECT sql FROM sqlite_schema WHERE name = 'notes'").pluck().get()
    const quoted = String(sql)
      .replace(/^CREATE TABLE "?notes"?/, 'create table "notes_new"')
      .replaceAll('priority', '[priority]')
      .replaceAll(/CONSTRAINT (\w+) CHECK/g, 'constraint "$1"\n  check ')
      .replace('AUTOINCREMENT', 'autoincrement')
    expect(quoted).toContain('constraint "notes_state_known"')
    await execute(`BEGIN; ${quoted}; INSERT INTO notes_new SELECT * FROM notes; DROP TABLE notes;
      ALTER TABLE notes_new RENAME TO notes; CREATE INDEX "notes_by_state" ON notes ([state]); COMMIT`)
    await open()
  })
})
