import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sqliteDatabase } from '../../engine/test/notes/tests.ts'
import { temporaryFolder } from '../../engine/test/support/temporary.ts'
import { prepareSqlite } from '../support/petstore.ts'

test('the database of another product of the engines is refused', async () => {
  const path = join(temporaryFolder(), 'notes.db')
  await sqliteDatabase(path).open()
  expect(() => prepareSqlite(path)).toThrow('it belongs to another program; choose another database')
})
