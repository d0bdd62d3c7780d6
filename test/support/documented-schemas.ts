import { Ajv2020, type AnySchemaObject, type ValidateFunction } from 'ajv/dist/2020.js'
import type { oas31 } from 'zod-openapi'
import { isRecord } from '../../engine/service/api/validation.ts'

export type Schema = oas31.SchemaObject | oas31.ReferenceObject

export interface Bounds {
  minimum?: bigint
  maximum?: bigint
}

const int64: Bounds = { minimum: -(2n ** 63n), maximum: 2n ** 63n - 1n }

/** The schemas of an OpenAPI 3.1 document, which are JSON Schemas of draft 2020-12. */
export class DocumentedSchemas {
  readonly #components: Record<string, Schema>
  readonly #ajv = new Ajv2020({
    allErrors: true,
    keywords: ['components'],
    formats: { 'date-time': (text: string) => isDate(new Date(text)) && new Date(text).toISOString() === text },
  })
  readonly #validators = new Map<Schema, ValidateFunction>()

  constructor({ components }: oas31.OpenAPIObject) {
    this.#components = components?.schemas ?? {}
    // Ajv's own keywords for integers do not accept a bigint.
    this.#ajv.addKeyword({
      keyword: 'exactInteger',
      errors: false,
      validate: ({ minimum, maximum }: Bounds, value: unknown) =>
        typeof value === 'bigint' &&
        (minimum === undefined || value >= minimum) &&
        (maximum === undefined || value <= maximum),
    })
  }

  /** Resolves a reference and merges the keywords beside it. */
  resolve(schema: Schema): oas31.SchemaObject {
    if (!('$ref' in schema)) return schema
    const { $ref, ...rest } = schema
    const target = this.#components[$ref.replace('#/components/schemas/', '')]
    if (!target) throw new Error(`The document has no schema ${$ref}.`)
    return { ...this.resolve(target), ...rest }
  }

  /** Parses the text of a parameter. */
  decode(schema: Schema, text: string): unknown {
    const { type } = this.resolve(schema)
    if (type === 'boolean' && /^(?:true|false)$/.test(text)) return text === 'true'
    return type === 'integer' && /^-?[0-9]+$/.test(text) ? BigInt(text) : text
  }

  /** Returns the violations of the schema in a value whose integers are `bigint`, or undefined. */
  findFault(schema: Schema, value: unknown): string | undefined {
    if (!isWellFormed(value)) return 'a lone surrogate, which is not Unicode text'
    let validate = this.#validators.get(schema)
    if (!validate) {
      const components = { schemas: this.#components }
      validate = this.#ajv.compile(withExactIntegers({ ...schema, components }) as AnySchemaObject)
      this.#validators.set(schema, validate)
    }
    return validate(value) ? undefined : this.#ajv.errorsText(validate.errors)
  }
}

/** The range of an integer: that of its format, narrowed by `minimum` and `maximum`. */
export function boundsOf({ format, minimum, maximum }: oas31.SchemaObject): Bounds {
  return {
    ...(format === 'int64' ? int64 : {}),
    ...(minimum === undefined ? {} : { minimum: BigInt(minimum) }),
    ...(maximum === undefined ? {} : { maximum: BigInt(maximum) }),
  }
}

function withExactIntegers(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withExactIntegers)
  if (!isRecord(node)) return node
  if (node.type === 'number') throw new Error('Teach the validator what an exact number is.')
  const { type, format, minimum, maximum, ...rest } = node
  if (type === 'integer') return { ...rest, exactInteger: boundsOf(node) }
  return Object.fromEntries(Object.entries(node).map(([name, each]) => [name, withExactIntegers(each)]))
}

function isDate(date: Date): boolean {
  return !Number.isNaN(date.getTime())
}

function isWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed()
  if (typeof value !== 'object' || value === null) return true
  return Object.entries(value).every((pair) => pair.every(isWellFormed))
}
