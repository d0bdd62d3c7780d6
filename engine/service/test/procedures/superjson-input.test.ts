import fc from 'fast-check'
import superjson from 'superjson'
import { describe, expect, test } from 'vitest'
import { cpuTimesOf } from '../../../test/support/fastest.ts'
import { ApiError } from '../../api/errors.ts'
import { decodeSuperjson } from '../../procedures/superjson-input.ts'

const time = '2026-11-20T08:30:00.000Z'

/** What superjson refuses to serialize (the names of prototypes) or what no input contains is left out. */
const value = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.bigInt({ min: -(10n ** 40n) + 1n, max: 10n ** 40n - 1n }),
    fc.constantFrom(undefined, null, true, 0, -0, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 'x', '7', new Date(0)),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', '0', ''), tie('value'), { maxKeys: 4 }),
  ),
})).value

test('what superjson serializes is decoded as superjson does', () => {
  fc.assert(
    fc.property(value, (input) => {
      const shared = { first: input, again: input }
      const serialized = JSON.stringify(superjson.serialize(shared))
      expect(decodeSuperjson(JSON.parse(serialized))).toEqual(superjson.deserialize(JSON.parse(serialized)))
    }),
    { numRuns: 2_000 },
  )
})

describe('the reason is named:', () => {
  const annotated = (value: unknown, type: string) => ({ json: { a: value }, meta: { values: { a: [type] } } })
  const envelope = 'expected an object with the input as json, and its annotations as meta'
  const parts = 'meta: expected an object with values, referentialEqualities and v'
  const special = 'expected the string NaN, Infinity, -Infinity or -0'
  const date = `expected a time in UTC with milliseconds, such as ${time}`

  test.for<[input: unknown, reason: string]>([
    [{ limit: 1 }, envelope],
    [{ json: {}, limit: 1 }, envelope],
    [null, envelope],
    [{ json: {}, meta: [] }, parts],
    [{ json: {}, meta: { types: {} } }, parts],
    [{ json: {}, meta: { v: 2 } }, 'meta.v: expected 0 or 1'],
    [{ json: {}, meta: { values: { a: ['bigint'] } } }, 'meta: the path a leads to no value of json'],
    [{ json: 'x', meta: { values: { length: ['number'] } } }, 'meta: the path length leads to no value of json'],
    [
      { json: { 'a.b': '7' }, meta: { values: { 'a\\.b': ['bigint'] }, v: 1 } },
      'meta: the path a\\.b leads to no value',
    ],
    ...[7, '', ' 7', '0x7', '1e3', '7.0', '9'.repeat(41)].map((value): [unknown, string] => [
      annotated(value, 'bigint'),
      'a: expected a string of 1 to 40 decimal digits, because it is annotated as bigint',
    ]),
    [{ json: {}, meta: { values: { ['__proto__']: ['undefined'] } } }, 'meta: the path __proto__ leads to no value'],
    [annotated(7, 'undefined'), 'a: expected null, because it is annotated as undefined'],
    [annotated('5', 'number'), `a: ${special}, because it is annotated as number`],
    [annotated('2026-11-20', 'Date'), `a: ${date}, because it is annotated as Date`],
    [
      { json: {}, meta: { referentialEqualities: { a: [{ toString: 1, valueOf: 1 }] } } },
      'meta.referentialEqualities: expected paths, which are texts',
    ],
    [annotated('7', 'regexp'), 'meta.values: expected one of the types bigint, Date, number, undefined for each path'],
  ])('%j', ([input, reason]) => {
    expect(() => decodeSuperjson(input)).toThrow(`The input is not valid superjson: ${reason}`)
  })

  const types = [['bigint', 'number'], ['bigint', {}], [['custom', 'x']], 'bigint', { x: ['bigint'] }, 1, null]
  test.for(types.map((type) => ({ type })))('for the annotation $type', ({ type }) => {
    const input = { json: { a: '7' }, meta: { values: { a: type } } }
    expect(() => decodeSuperjson(input)).toThrow('meta.values: expected one of the types')
  })

  test('a long path is shortened', () => {
    const input = { json: {}, meta: { values: { ['a'.repeat(60_000)]: ['bigint'] } } }
    expect(() => decodeSuperjson(input)).toThrow(`the path ${'a'.repeat(100)}… leads to no value`)
  })
})

describe('the time to decode grows with the length of the input only', () => {
  const escaped = '\\.'.repeat(15_000)
  const many = Array.from({ length: 2_000 }, (_, index) => index)
  test.for<[what: string, input: string]>([
    ['digits', `{"json":"${'9'.repeat(60_000)}","meta":{"values":["bigint"]}}`],
    [
      'many numbers',
      `{"json":[${many.map(() => '"9999999999"')}],"meta":{"values":{${many.map((i) => `"${i}":["bigint"]`)}}}}`,
    ],
    ['many names', `{"json":{${many.map((i) => `"name number ${i}":1`)}}}`],
    ['a deep value', `{"json":${'['.repeat(30_000)}${']'.repeat(30_000)}}`],
    ['a long path', `{"json":{},"meta":{"values":{"${'a.'.repeat(30_000)}":["bigint"]}}}`],
    ['a long path of escapes', `{"json":{},"meta":{"values":{${JSON.stringify(escaped)}:["bigint"]},"v":1}}`],
    ['deep equalities', `{"json":{},"meta":{"referentialEqualities":${'['.repeat(30_000)}${']'.repeat(30_000)}}}`],
    ['a deep annotation', `{"json":{},"meta":{"values":${'{"a":'.repeat(10_000)}[]${'}'.repeat(10_000)}}}`],
  ])('%s', async ([, input]) => {
    const [parsing, decoding] = cpuTimesOf(
      () => JSON.parse(input),
      () => {
        const parsed = JSON.parse(input)
        try {
          decodeSuperjson(parsed)
        } catch (error) {
          expect(error).toBeInstanceOf(ApiError)
        }
      },
    )
    // Nothing here may take longer than a few milliseconds, which short parsing times would not show.
    expect(decoding).toBeLessThan(parsing * 10 + 10)
  })
})
