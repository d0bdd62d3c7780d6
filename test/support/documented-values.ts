import fc from 'fast-check'
import type { oas31 } from 'zod-openapi'
import { isRecord } from '../../engine/service/api/validation.ts'
import { exactly, writeExactly } from '../../engine/test/support/exact-json.ts'
import { type Bounds, boundsOf, type DocumentedSchemas, type Schema } from './documented-schemas.ts'

/** Generates values from documented schemas. Integers are `bigint`. */
export class ValueGenerator {
  readonly #schemas: DocumentedSchemas

  constructor(schemas: DocumentedSchemas) {
    this.#schemas = schemas
  }

  valid(schema: Schema): fc.Arbitrary<unknown> {
    const candidates = this.#candidates(this.#schemas.resolve(schema))
    return candidates.filter((value) => this.#schemas.findFault(schema, value) === undefined)
  }

  /** A valid value, or an object with one missing, wrong or unknown field, or any JSON. */
  nearlyValid(schema: Schema): fc.Arbitrary<unknown> {
    const { properties = {} } = this.#schemas.resolve(schema)
    const changes = Object.entries(properties).map(([name, field]) =>
      fc.record({
        name: fc.constant(name),
        value: fc.oneof(fc.constantFrom(...this.atBounds(field)), anyJson, fc.constant(undefined)),
      }),
    )
    const unknownField = fc.record({ name: fc.string(), value: anyJson })
    const changed = fc
      .tuple(this.valid(schema), fc.oneof(...changes, unknownField))
      .map(([value, { name, value: other }]) => (isRecord(value) ? withField(value, name, other) : value))
      .filter(isWritable)
    return fc.oneof(
      { weight: 5, arbitrary: this.valid(schema) },
      { weight: 4, arbitrary: changed },
      { weight: 1, arbitrary: anyJson },
    )
  }

  /** Values at the bounds of a schema and just beyond them. In an object, only one field has such a value. */
  atBounds(schema: Schema): unknown[] {
    const resolved = this.#schemas.resolve(schema)
    if (resolved.enum) return [...resolved.enum, ...resolved.enum.map((value) => String(value).toUpperCase()), '', 1n]
    if (resolved.type === 'integer') return integersAtBounds(boundsOf(resolved))
    if (resolved.type === 'object') return this.#objectsAtBounds(schema, resolved)
    if (resolved.type === 'array') return this.#arraysAtBounds(resolved)
    const { minLength = 0, maxLength = 300 } = resolved
    const lengths = lengthsAround(minLength, maxLength)
    return [...lengths.flatMap((length) => ['a'.repeat(length), '𝒳'.repeat(length)]), ...oddTexts, 1n]
  }

  #objectsAtBounds(schema: Schema, { properties = {} }: oas31.SchemaObject): unknown[] {
    const usual = this.#sample(schema)
    if (!isRecord(usual)) return []
    const changed = Object.entries(properties).flatMap(([name, field]) =>
      [...this.atBounds(field), null, [], {}, undefined].map((value) => withField(usual, name, value)),
    )
    return [usual, ...changed, null, [], '', 1n]
  }

  #arraysAtBounds({ items = {}, minItems = 0, maxItems = 20 }: oas31.SchemaObject): unknown[] {
    const ofLengths = lengthsAround(minItems, maxItems).map((length) => Array(length).fill(this.#sample(items)))
    return [...ofLengths, ...this.atBounds(items).map((item) => [item]), {}, '']
  }

  #candidates(schema: oas31.SchemaObject): fc.Arbitrary<unknown> {
    const { type, items = {}, minItems = 0, maxItems = 10, properties = {}, required = [] } = schema
    if (schema.enum) return fc.constantFrom(...schema.enum)
    if (type === 'boolean') return fc.boolean()
    if (type === 'integer') return integers(boundsOf(schema))
    if (type === 'string') return strings(schema)
    if (type === 'array') return fc.array(this.valid(items), { minLength: minItems, maxLength: maxItems })
    if (type !== 'object') throw new Error(`Teach the generator how to make ${JSON.stringify(schema)}.`)
    const fields = Object.entries(properties).map(([name, field]) => [name, this.valid(field)])
    return fc.record<Record<string, unknown>>(Object.fromEntries(fields), { requiredKeys: required })
  }

  #sample(schema: Schema): unknown {
    return fc.sample(this.valid(schema), { seed: 1, numRuns: 1 })[0]
  }
}

/** Texts that lenient parsers accept, and texts that are not valid Unicode. */
export const oddTexts = [
  ...['', ' ', ' 5', '5 ', '+5', '-0', '007', '5.0', '1e1', '0x10', '٥'],
  ...['"', '%', '\0', '\n', '\u3000', '\ud800'],
]

// superjson does not serialize the names that isWritable excludes.
const anyJson = fc.jsonValue().filter(isWritable).map(exactly)

function isWritable(value: unknown): boolean {
  return !/"(?:__proto__|constructor|prototype)":/.test(writeExactly(value))
}

function withField(object: Record<string, unknown>, name: string, value: unknown): Record<string, unknown> {
  const { [name]: _, ...others } = object
  return value === undefined ? others : { ...others, [name]: value }
}

function lengthsAround(least: number, most: number): number[] {
  return [least - 1, least, most, most + 1].filter((length) => length >= 0)
}

function integersAtBounds({ minimum = -(2n ** 64n), maximum = 2n ** 64n }: Bounds): unknown[] {
  return [minimum - 1n, minimum, minimum + 1n, maximum - 1n, maximum, maximum + 1n, 0.5, '1', '']
}

function integers({ minimum = -(2n ** 64n), maximum = 2n ** 64n }: Bounds): fc.Arbitrary<bigint> {
  const small = fc.bigInt({ min: minimum > 0n ? minimum : 0n, max: maximum < 100n ? maximum : 100n })
  return fc.oneof(small, fc.bigInt({ min: minimum, max: maximum }))
}

const times = fc
  .date({ min: new Date('0000-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
  .map((time) => time.toISOString())

function strings({ format, pattern, minLength = 0, maxLength = 100 }: oas31.SchemaObject): fc.Arbitrary<string> {
  if (format === 'date-time') return times
  // A few texts are frequent, so that some requests repeat others.
  const few = fc.constantFrom('a', 'b', '"a"', 'Rex')
  const any = fc.string({ unit: 'binary', minLength, maxLength })
  return fc.oneof(few, any, ...(pattern === undefined ? [] : [fc.stringMatching(new RegExp(pattern, 'u'))]))
}
