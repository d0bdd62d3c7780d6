import { join } from 'node:path'
import Database from 'better-sqlite3'
import { sql } from 'drizzle-orm'
import {
  type AnySQLiteColumn,
  type IndexBuilder,
  index,
  real,
  type SQLiteColumn,
  sqliteTable,
  text,
  uniqueIndex,
} from 'drizzle-orm/sqlite-core'
import { expect, test } from 'vitest'
import { definition as original } from '../../../test/notes/store.ts'
import { books, notes } from '../../../test/notes/tables.ts'
import { temporaryFolder } from '../../../test/support/temporary.ts'
import { uniqueColumnOf } from '../../collection/row.ts'
import { refuseTakenNames } from '../../collection/rules.ts'
import { int64, oneOfCheck, timestamp } from '../../collection/schema.ts'
import { collection, defineStore } from '../../collection.ts'
import { openStore } from '../../open.ts'

test('a table that could give the id of a removed row to another one is refused', () => {
  const table = sqliteTable('lax', { id: int64('id').primaryKey(), name: text().notNull() })
  expect(() => collection({ table })).toThrow("The id of lax must be int64('id').primaryKey({ autoIncrement: true }).")
})

test.for([
  ['has a default that no row would get. Use $defaultFn, or a default of the input.', text().default('red')],
  ['has generatedAlwaysAs. Compute it with $defaultFn, or in a change.', text().notNull().generatedAlwaysAs('red')],
  ['has a length that no database would check. Use lineChecks.', text({ length: 9 })],
  ['has $onUpdateFn. It also needs $defaultFn, for new rows.', text().$onUpdateFn(() => 'red')],
  ['must be text, int64, a boolean or timestamp.', real()],
  ['needs the rule timestampCheck of #store.', timestamp('color')],
  ['needs the rule oneOfCheck of #store.', text({ enum: ['red', 'blue'] })],
] as const)('a column that would not be checked or kept as Drizzle says is refused: %s', ([problem, color]) => {
  const id = int64('id').primaryKey({ autoIncrement: true })
  const table = sqliteTable('boxes', { id, color })
  // @ts-expect-error the compiler refuses one of them, too
  expect(() => collection({ table })).toThrow(`The column color of boxes ${problem}`)
  const useful = { required: text().notNull().default('red'), renewed: text().$defaultFn(String).$onUpdateFn(String) }
  collection({ table: sqliteTable('boxes', { id, ...useful }) })
})

test.for([
  ['has onDelete or onUpdate', { onDelete: 'cascade' }],
  ['has onDelete or onUpdate', { onUpdate: 'set null' }],
  ['refers to its own table', undefined],
] as const)(
  'a foreign key that changes other rows, or that a copy could not fill, is refused: it %s, %j',
  ([problem, actions]) => {
    const id = int64('id').primaryKey({ autoIncrement: true })
    const shelves = sqliteTable('shelves', { id })
    const target = (): AnySQLiteColumn => (actions ? shelves : boxes).id
    const boxes = sqliteTable('boxes', { id, on: int64('on_id').references(target, actions) })
    expect(() => collection({ table: boxes })).toThrow(`A foreign key of boxes ${problem}.`)
  },
)

test.for([
  ['none', () => []],
  ['one of some rows', ({ size }) => [index('some').on(size).where(sql`size > 0`)]],
  ['one of further columns', ({ size, name }) => [index('wide').on(size, name)]],
  ['a unique one of some rows', ({ size }) => [uniqueIndex('some').on(size).where(sql`size > 0`)]],
] as [string, (boxes: Record<'size' | 'name', SQLiteColumn>) => IndexBuilder[]][])(
  'a filter without an index of its own is refused, which would read all rows: %s',
  ([, indexes]) => {
    const fields = { id: int64('id').primaryKey({ autoIncrement: true }), size: int64('size'), name: text('name') }
    const filters = ['size'] as const
    expect(() => collection({ table: sqliteTable('boxes', fields, indexes), filters })).toThrow(
      "The filter size of boxes has no index of its own. Add index('boxes_by_size').on(….size) to its table, and a migration.",
    )
    collection({ table: sqliteTable('boxes', fields, ({ size }) => [index('all').on(size)]), filters })
    collection({ table: sqliteTable('boxes', { ...fields, size: int64('size').unique() }), filters })
  },
)

test.for([
  ['list', [{ list: () => ({}) }]],
  ['update', [{}, { update: () => ({}) }]],
  ['purge', [{ purge: () => ({}) }, undefined, { purge: () => ({}) }]],
] as const)('a method of its own that would replace another one is refused: %s', ([name, own]) => {
  expect(() => refuseTakenNames(notes, [...own])).toThrow(`The collection of notes has another method ${name}.`)
})

test('a change with the name of a read ends the start', async () => {
  const collections = {
    ...original.collections,
    notes: collection({ table: notes, changes: (change) => ({ list: change(() => ({ body: 'x' })) }) }),
  }
  const path = join(temporaryFolder(), 'x.db')
  const opening = openStore(defineStore({ ...original, collections }), { kind: 'sqlite', path })
  await expect(opening).rejects.toThrow(
    'The collection of notes has another method list. Rename the change or statement.',
  )
  // SQLite changes this only if no other connection is open.
  const other = new Database(path)
  await expect.poll(() => other.pragma('journal_mode = DELETE', { simple: true })).toBe('delete')
  other.close()
})

test('a row is found by a unique field only', () => {
  expect(uniqueColumnOf(books, 'title').name).toBe('title')
  expect(uniqueColumnOf(notes, 'id').name).toBe('id')
  expect(() => uniqueColumnOf(notes, 'body')).toThrow('The table notes cannot get a row by its field body')
})

test('a choice may have an apostrophe', () => {
  const { state } = sqliteTable('toys', { state: text({ enum: ["can't", 'can'] }) })
  expect(oneOfCheck(state).value.queryChunks).toMatchObject([{ value: [`"state" IN ('can''t', 'can')`] }])
})
