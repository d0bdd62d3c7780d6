import { describe, expect, test } from 'vitest'
import { notesDatabase, tableNames } from '../../../test/notes/database.ts'
import { definition } from '../../../test/notes/store.ts'
import { isOnPostgres } from '../../../test/support/database.ts'
import { inspect } from '../../open.ts'

describe('a table that is dropped while the store is open makes it unready, and the next start is refused:', () => {
  test.for([...tableNames, 'migrations'])('%s', async (table) => {
    const database = await notesDatabase()
    const store = await database.open()
    await store.check()
    await database.execute(`DROP TABLE ${table}${isOnPostgres ? ' CASCADE' : ''}`)
    await expect(store.check()).rejects.toThrow(table)
    if (table === 'migrations') return
    await expect(database.open()).rejects.toThrow(
      new RegExp(
        `^The database .* cannot be used: .*${table}.*; restore a backup, or put the missing part back, with a migration if it is new\\.$`,
      ),
    )
    const inspection = await inspect(definition, database.location)
    expect(await inspection?.schema()).toMatchObject({ problem: expect.stringContaining(table) })
    await inspection?.close()
  })
})

test('a column that is missing makes the store unready', async () => {
  const database = await notesDatabase()
  const store = await database.open()
  await database.execute('ALTER TABLE api_keys RENAME COLUMN start TO beginning')
  await expect(store.check()).rejects.toThrow('start')
})
