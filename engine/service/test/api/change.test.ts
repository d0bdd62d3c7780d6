import { expect, test } from 'vitest'
import { z } from 'zod'
import { removeInput, updateInput } from '../../api/change.ts'
import { resource } from '../../api/resource.ts'
import { describeIssues } from '../../api/validation.ts'
import { proceduresOf } from '../../procedures/procedures.ts'
import { decodeSuperjson } from '../../procedures/superjson-input.ts'
import { createTrpc } from '../../procedures/trpc.ts'

const fields = {
  body: z.string(),
  state: z.enum(['open', 'done']).default('open'),
  dueAt: z.date().optional(),
  size: z.int().optional().prefault(3),
}
const update = updateInput({ id: z.bigint() }, fields)
const removal = removeInput({ id: z.bigint() }, fields)

test('a field that is absent gets no default', () => {
  expect(update.parse({ id: 1n, body: 'new' })).toStrictEqual({ id: 1n, body: 'new' })
  expect(update.parse({ id: 1n, body: 'new', expected: {} })).toStrictEqual({ id: 1n, body: 'new', expected: {} })
  expect(removal.parse({ id: 1n, expected: { body: 'old' } })).toStrictEqual({ id: 1n, expected: { body: 'old' } })
  expect(update.safeParse({ id: 1n }).success).toBe(false)
})

test.for(['expected', 'id'])('an update cannot have a field with the name %s', (name) => {
  expect(() => updateInput({ id: z.bigint() }, { [name]: z.string() })).toThrow(`Rename the field ${name}`)
})

test('an update may lack a field that only another operation sets', () => {
  const { state: _, ...others } = fields
  const item = z.object({ id: z.bigint(), ...fields })
  const { updateInput } = resource({ one: 'note', many: 'notes', item, fields: others })
  expect(updateInput.safeParse({ noteId: 1n, body: 'new' }).success).toBe(true)
  expect(updateInput.safeParse({ noteId: 1n, state: 'done' }).error?.message).toContain('expected no field state')
})

test('null clears an optional field, and no other one', () => {
  expect(update.parse({ id: 1n, dueAt: null })).toStrictEqual({ id: 1n, dueAt: null })
  for (const name of ['body', 'state']) expect(update.safeParse({ id: 1n, [name]: null }).success).toBe(false)
})

test.for([
  [update, { id: 1n, body: 'new', expect: {} }, 'input: expected no field expect'],
  [update, { id: 1n, body: 'new', expected: { stat: 'open' } }, 'expected: expected no field stat'],
  [removal, { id: 1n, body: 'new' }, 'input: expected no field body'],
  [removal, { id: 1n, ['x'.repeat(101)]: 'new' }, `input: expected no field ${'x'.repeat(100)}…`],
  [update, 7, 'input: expected an object, got 7'],
] as const)('a field that does not exist is refused, and not ignored: %#', ([schema, input, message]) => {
  const { error } = schema.safeParse(input)
  expect(error && describeIssues(error)).toContain(message)
})

test('null of a client that deduplicates its values does not clear a field', () => {
  const at = new Date(0).toISOString()
  const input = {
    json: { id: '1', dueAt: at, remindAt: null },
    meta: { values: { id: ['bigint'], dueAt: ['Date'] }, referentialEqualities: { dueAt: ['remindAt'] } },
  }
  expect(() => decodeSuperjson(input)).toThrow('remindAt: expected superjson without its option dedupe')
})

test('a mutation that was not begun with mutation() is refused, also in a router inside of a router', () => {
  const { query, router } = createTrpc()
  const inner = { wipe: query().mutation(() => 1) }
  expect(() => proceduresOf(router({ inner }))).toThrow('inner.wipe: begin a mutation with mutation().')
})
