import fc from 'fast-check'
import superjson from 'superjson'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { Note } from '../../../test/notes/notes.ts'
import { writeJson } from '../../api/literals.ts'
import { jsonWriter, superjsonWriter } from '../../api/output.ts'

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
const note = fc.record({
  id: int64,
  body: fc.string({ unit: 'grapheme' }),
  priority: int64,
  state: fc.constantFrom('open', 'waiting', 'done'),
})

test.for<[string, z.ZodType, fc.Arbitrary<unknown>]>([
  ['a note', Note, note],
  [
    'an object with optional fields',
    z.object({ id: z.bigint().optional(), note: z.string().optional() }),
    fc.record({ id: int64, note: fc.string() }, { requiredKeys: [] }),
  ],
  ['a list of notes', z.array(Note), fc.array(note)],
  [
    'a nested value',
    z.object({ a: z.object({ b: z.array(z.array(z.bigint())) }), c: z.boolean() }),
    fc.record({ a: fc.record({ b: fc.array(fc.array(int64)) }), c: fc.boolean() }),
  ],
  [
    'an object of dates',
    z.object({ at: z.date(), list: z.array(z.date()) }),
    fc.record({ at: fc.date({ noInvalidDate: true }), list: fc.array(fc.date({ noInvalidDate: true })) }),
  ],
  [
    'an object of numbers',
    z.object({ float: z.number(), int: z.int() }),
    fc.record({
      float: fc.double({ noNaN: true, noDefaultInfinity: true, min: Number.MIN_VALUE }),
      int: fc.maxSafeInteger(),
    }),
  ],
])('a client reads %s as it was', ([, schema, values]) => {
  const write = superjsonWriter(schema)
  fc.assert(fc.property(values, (value) => void expect(superjson.parse(write(value))).toEqual(value)))
  const writeForRest = jsonWriter(schema)
  fc.assert(
    fc.property(values, (value) => void expect(JSON.parse(writeForRest(value))).toEqual(JSON.parse(writeJson(value)))),
  )
})

test.for([...'\0\x1f !"#[\\]\x7f\u2028\ud7ff\ue000\uffff😀', '', '\ud800', '\udfff', 'a\nb'])(
  'the text %j is escaped as by JSON',
  (text) => {
    expect(jsonWriter(z.object({ text: z.string() }))({ text })).toBe(JSON.stringify({ text }))
  },
)

test.for<[string, z.ZodType, unknown]>([
  ['text', z.string(), 7n],
  ['text', z.string(), undefined],
  ['text', z.string(), null],
  ['isOpen', z.boolean(), 'true'],
  ['isOpen', z.boolean(), undefined],
  ['state', z.enum(['open', 'done']), 'lost'],
  ['state', z.enum(['open', 'done']), undefined],
  ['id', z.bigint(), 7],
  ['id', z.bigint(), undefined],
  ['count', z.int(), Number.NaN],
  ['count', z.int(), Number.POSITIVE_INFINITY],
  ['count', z.int(), undefined],
  ['at', z.date(), new Date(Number.NaN)],
  ['at', z.date(), undefined],
  ['list', z.array(z.string()), undefined],
  ['inner', z.object({ a: z.string().optional() }), undefined],
])('%s: a value that the validation would refuse is an error that names the field: %o %o', ([name, field, value]) => {
  const schema = z.array(z.object({ [name]: field }))
  const output = [{ [name]: value }]
  expect(schema.safeParse(output).success).toBe(false)
  expect(() => superjsonWriter(schema)(output)).toThrow(`An output cannot be written: 0.${name}: expected `)
  expect(() => jsonWriter(schema)(output)).toThrow(`An output cannot be written: ${name}: expected `)
})

test.for<[string, z.ZodType | undefined]>([
  ['no schema', undefined],
  ['a refined date', z.object({ at: z.date().refine(() => true) })],
  ['a field whose name would have to be escaped', z.object({ 'a.b': z.bigint() })],
  ['a bare bigint', z.bigint()],
])('%s is left to superjson', ([, schema]) => {
  expect([superjsonWriter(schema), jsonWriter(schema)]).toEqual([superjson.stringify, writeJson])
})
