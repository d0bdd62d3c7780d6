import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { prepareSqlite } from '../../../test/notes/database.ts'
import { NewNote } from '../../../test/notes/notes.ts'
import { textsOfAllCharacters } from '../../../test/support/all-characters.ts'
import { openDatabase } from '../../../test/support/database.ts'
import { temporaryFolder } from '../../../test/support/temporary.ts'

test('the schema accepts the same bodies as the service, with every character and every length', () => {
  const path = join(temporaryFolder(), 'notes.db')
  prepareSqlite(path)
  const isStored = storesBody(openDatabase(path))
  const isBody = (body: string) => NewNote.safeParse({ body, priority: 1n }).success
  const long = ['x', '𝒳'].flatMap((character) => [0, 1, 254, 255, 256, 510, 511].map((n) => character.repeat(n)))
  const disagreements = [...textsOfAllCharacters(), ...long].filter((body) => isStored(body) !== isBody(body))
  expect(disagreements).toEqual([])
})

function storesBody(database: Database.Database): (body: string) => boolean {
  const insert = database.prepare("INSERT INTO notes (body, priority, state) VALUES (?, 1, 'done')")
  database.exec('BEGIN')
  return (body) => {
    try {
      return insert.run(body).changes === 1
    } catch (error) {
      if (error instanceof Database.SqliteError && error.code === 'SQLITE_CONSTRAINT_CHECK') return false
      throw error
    }
  }
}
