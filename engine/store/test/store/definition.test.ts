import { sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { expect, test } from 'vitest'
import { books, notes } from '../../../test/notes/tables.ts'
import { uniqueColumnOf } from '../../collection/row.ts'
import { int64 } from '../../collection/schema.ts'
import { collection } from '../../collection.ts'

test('a table that could give the id of a removed row to another one is refused', () => {
  const table = sqliteTable('lax', { id: int64('id').primaryKey(), name: text().notNull() })
  expect(() => collection({ table })).toThrow("The id of lax must be int64('id').primaryKey({ autoIncrement: true }).")
})

test('a row is found by a unique field only', () => {
  expect(uniqueColumnOf(books, 'title').name).toBe('title')
  expect(uniqueColumnOf(notes, 'id').name).toBe('id')
  expect(() => uniqueColumnOf(notes, 'body')).toThrow('The table notes cannot get a row by its field body')
})
