import fc from 'fast-check'
import superjson from 'superjson'
import { describe, expect, test } from 'vitest'
import { cpuTimesOf } from '../../../test/support/fastest.ts'
import { ApiError } from '../../api/errors.ts'
import { decodeSuperjson } from '../../procedures/superjson-input.ts'

/** Stands for the path of the input itself, which superjson does not write. */
const ofInput = 'the input'

/**
 * Few and short names, so that annotations often meet values. No two differ only by an escape: JSON.parse of Node 24.21
 * then sometimes confuses them.
 */
const key = fc.constantFrom('a', 'b', '0', '', 'a.b', '.', 'a\\.b', '__proto__', 'constructor', 'length')
const time = '2026-11-20T08:30:00.000Z'
const text = fc.constantFrom(
  ...['', '7', '-7', '007', '9'.repeat(41), '1e3', ' 7', '0x7', 'NaN', '-Infinity', '-0', time, 'x'],
)
const scalar = fc.oneof({ weight: 3, arbitrary: text }, fc.constantFrom(null, true, 9007199254740992, 0.5))
const { json, object } = fc.letrec((tie) => ({
  json: fc.oneof({ depthSize: 'small' }, scalar, fc.array(tie('json'), { maxLength: 3 }), tie('object')),
  object: fc.array(fc.tuple(key, tie('json')), { maxLength: 4 }).map(parsedObject),
}))

const oddType = fc.constantFrom(
  ['regexp'],
  ['bigint', {}],
  ['bigint', 'number'],
  [],
  'bigint',
  { a: ['bigint'] },
  1,
  null,
)
const oddPath = fc.oneof(key, fc.string({ unit: 'grapheme-ascii' }))

function often<T>(usual: fc.Arbitrary<T>, unusual: fc.Arbitrary<T>): fc.Arbitrary<T> {
  return fc.oneof({ weight: 30, arbitrary: usual }, { weight: 1, arbitrary: unusual })
}

const envelope = fc.oneof(json, object).chain((value) => {
  const path = often(fc.constantFrom('a', ...placesIn(value).map(([at]) => at)), oddPath)
  const types = fc.constantFrom<unknown>(['bigint'], ['bigint'], ['Date'], ['number'], ['undefined'])
  const fitting = placesIn(value).flatMap(([at, content]) => typesOf(content).map((type) => [at, [type]]))
  const annotations = fc.oneof(
    fc.subarray(fitting).map((entries) => Object.fromEntries(entries)),
    fc.dictionary(path, often(types, oddType), { maxKeys: 2 }),
  )
  const paths = fc.array(path, { maxLength: 2 })
  const meta = fc.record(
    {
      values: often<unknown>(annotations, fc.oneof(types, oddType)),
      referentialEqualities: fc.oneof(fc.constant({}), fc.dictionary(path, paths, { maxKeys: 1 }), fc.tuple(paths)),
      v: often(fc.constant(1), fc.constantFrom(0, 2)),
    },
    { requiredKeys: ['v'] },
  )
  return fc.record({ json: fc.constant(value), meta }, { requiredKeys: ['json'] })
})

test('an input is refused, or it holds exactly the values of the JSON and of the annotations', () => {
  const seen = { refused: 0, accepted: 0, decoded: 0 }
  fc.assert(
    fc.property(envelope, (input) => {
      const text = JSON.stringify(input)
      let result: unknown
      try {
        result = decodeSuperjson(JSON.parse(text))
      } catch (thrown) {
        expect(thrown).toBeInstanceOf(ApiError)
        expect(thrown).toMatchObject({ body: { code: 'invalid_request', status: 400 } })
        seen.refused++
        return
      }
      const original: typeof input = JSON.parse(text)
      const { values = {} } = original.meta ?? {}
      const annotations = new Map(Array.isArray(values) ? [[ofInput, values]] : Object.entries(values ?? {}))
      const places = placesIn(original.json)
      const annotated = places.filter(([path]) => annotations.has(path))
      expect(annotated).toHaveLength(annotations.size)
      expect(placesIn(result)).toStrictEqual(
        places.map(([path, content]) => [
          path,
          annotations.has(path) ? decoded(content, annotations.get(path)) : content,
        ]),
      )
      seen.accepted++
      seen.decoded += annotated.length
    }),
    { numRuns: 2_000 },
  )
  // Otherwise the generator would test little.
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(20)
})

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
    [annotated(7, 'bigint'), 'a: expected a string of 1 to 40 decimal digits, because it is annotated as bigint'],
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

/** JSON.parse makes own properties also of names such as __proto__. */
function parsedObject(entries: [string, unknown][]): unknown {
  return JSON.parse(`{${entries.map(([name, each]) => `${JSON.stringify(name)}:${JSON.stringify(each)}`)}}`)
}

function superjsonKey(name: string): string {
  return name.replaceAll('\\', '\\\\').replaceAll('.', '\\.')
}

/** The paths of a value and of all values in it, as superjson writes them, each with its scalar or kind. */
function placesIn(value: unknown, keys: string[] = []): [path: string, content: unknown][] {
  const path = keys.length > 0 ? keys.join('.') : ofInput
  if (typeof value !== 'object' || value === null || value instanceof Date) return [[path, value]]
  const parts = Object.entries(value).flatMap(([name, each]) => placesIn(each, [...keys, superjsonKey(name)]))
  return [[path, Array.isArray(value) ? 'an array' : 'an object'], ...parts]
}

/** Annotations that may fit. */
function typesOf(content: unknown): string[] {
  if (content === null) return ['undefined']
  if (content === time) return ['Date']
  return typeof content === 'string' && /\d|N/.test(content) ? ['bigint', 'number'] : []
}

/** What an annotation means, if the value fits it. */
function decoded(content: unknown, annotation: unknown): unknown {
  const type: unknown = Array.isArray(annotation) && annotation.length === 1 ? annotation[0] : undefined
  if (type === 'undefined' && content === null) return undefined
  if (type === 'number' && ['NaN', 'Infinity', '-Infinity', '-0'].includes(String(content))) return Number(content)
  if (type === 'bigint' && /^-?\d{1,40}$/.test(String(content))) return BigInt(String(content))
  if (type === 'Date' && content === time) return new Date(time)
  throw new Error(`The service has accepted ${content} as ${JSON.stringify(annotation)}.`)
}
