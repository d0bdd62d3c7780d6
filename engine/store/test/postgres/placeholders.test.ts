import { sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { textOf } from '../../postgres/statements.ts'
import { note, notesDatabase } from '../notes/open.ts'

const [id, name] = [sql.placeholder('id'), sql.placeholder('name')]

test('a placeholder is the value of the field with its name, wherever and however often it occurs', () => {
  const statement = sql`UPDATE t SET name = ${name}, first = coalesce(first, ${name}) WHERE id = ${id}`
  expect(textOf(statement, ['id', 'name'])).toBe('UPDATE t SET name = $2, first = coalesce(first, $2) WHERE id = $1')
})

test.for([
  ['a placeholder without its field', sql`SELECT ${name}`, ['id']],
  ['a placeholder without fields', sql`SELECT ${name}`, undefined],
  ['a value', sql`SELECT ${1n}`, ['id']],
] as const)('%s is refused', ([, statement, fields]) => {
  expect(() => textOf(statement, fields)).toThrow('placeholder')
})

test('a mutation of its own gets the values by their names', async () => {
  const store = await (await notesDatabase()).open()
  await store.notes.copy({ body: 'text', priority: 7n })
  expect(await store.notes.get(1n)).toMatchObject({ ...note, body: 'text', priority: 7n })
})
