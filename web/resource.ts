import type { PetstoreClient } from '../client/index.ts'

/** The words for one item and for several, for the user. */
export interface Noun {
  one: string
  many: string
}

/** What the console knows about a resource of the API: enough to show, add, import, export and request its items. */
export interface Resource {
  /** The name of an item in paths and procedures. */
  one: string
  /** The name of the resource in paths and procedures. */
  many: string
  noun: Noun
  /** In the order in which they are shown and written. */
  fields: readonly Field[]
  /** The fields that a new item may have. */
  entered: readonly Field[]
  procedures: (petstore: PetstoreClient) => Procedures
}

export interface Procedures {
  list: { query(input: { cursor: bigint; limit: number }, options: { signal: AbortSignal }): Promise<Item[]> }
  create: {
    mutate(input: Values, options: { context: { idempotencyKey: string }; signal: AbortSignal }): Promise<Item>
  }
}

/** The values of an item by the names of its fields. The value of an absent field is undefined. */
export type Values = Readonly<Record<string, unknown>>
export type Item = Values & { id: bigint }

export interface Count {
  count: number
  /** False if there are more items than were counted. */
  isExact: boolean
}

export interface Field {
  name: string
  /** The name for the user. */
  label: string
  kind: 'id' | 'text' | 'integer' | 'choice'
  /** Whether a new item needs a value. The service generates some values. */
  presence: 'required' | 'optional' | 'generated'
  /** The values of two examples. */
  samples?: readonly unknown[]
  /** The number of characters that a text may have. */
  maxLength?: number
  /** The possible values with their names for the user. */
  choices?: Readonly<Record<string, string>>
  /** The value that the service stores if a new item has none. */
  default?: unknown
}

/** A field as its resource defines it. Its kind and its presence follow from the types of the API. */
type Definition<Value, Presence> = { presence: Presence } & (Presence extends 'generated'
  ? unknown
  : { samples: readonly [Value, Value] }) &
  ([Value] extends [bigint]
    ? { kind: 'id' | 'integer' }
    : [Value] extends [string]
      ? string extends Value
        ? { kind: 'text'; maxLength: number }
        : { kind: 'choice'; choices: Readonly<Record<Value, string>>; default?: Value }
      : 'The console has no kind of field for this type.')

type Definitions<Stored, New> = {
  [Name in keyof Stored]-?: Definition<
    NonNullable<Stored[Name]>,
    Name extends keyof New ? (Partial<Pick<New, Name>> extends Pick<New, Name> ? 'optional' : 'required') : 'generated'
  >
}

/** A resource. A field that the types of the API lack, or one that is missing, does not compile. */
export function resourceOf<Stored, New>(
  definition: Pick<Resource, 'one' | 'many' | 'noun' | 'procedures'> & {
    labels: Readonly<Record<keyof Stored & string, string>>
    fields: Definitions<Stored, New>
  },
): Resource {
  // Safe: the names and the types are those of the definition.
  const entries = Object.entries(definition.fields) as [keyof Stored & string, Omit<Field, 'name' | 'label'>][]
  const fields = entries.map(([name, field]) => ({ name, label: definition.labels[name], ...field }))
  return { ...definition, fields, entered: fields.filter(({ presence }) => presence !== 'generated') }
}

export function namesOf(fields: readonly Field[]): string[] {
  return fields.map(({ name }) => name)
}

/** The values of a new item whose texts a user entered. They are not validated. */
export function parseTexts(resource: Resource, texts: Readonly<Record<string, string | undefined>>): Values {
  return valuesOf(resource, ({ name, kind, presence }) => {
    const text = texts[name] ?? ''
    if (kind === 'text') return text === '' && presence === 'optional' ? undefined : text
    const word = text.trim()
    return kind === 'integer' ? (parseInteger(word) ?? (word || undefined)) : word || undefined
  })
}

export function parseInteger(word: string): bigint | undefined {
  return /^-?\d+$/.test(word) ? BigInt(word) : undefined
}

/** A new item. It lacks the fields without a value. */
export function valuesOf(resource: Resource, getValue: (field: Field) => unknown): Values {
  const entries = resource.entered.map((field) => [field.name, getValue(field)])
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
}

/** The names and values of an object but for those that are undefined. */
export function entriesOf(values: object): [name: string, value: unknown][] {
  return Object.entries(values).filter(([, value]) => value !== undefined)
}

/** The query of a URL with its question mark, or an empty text. */
export function searchOf(parameters: object): string {
  const query = entriesOf(parameters).map(([name, value]): [string, string] => [name, String(value)])
  return query.length > 0 ? `?${new URLSearchParams(query)}` : ''
}

/** An array for `JSON.stringify` that is equal for equal new items, also after a field without a value was added. */
export function identityOf(resource: Resource, item: Values): unknown[] {
  const values = resource.entered.map(({ name }) => item[name])
  const end = values.findLastIndex((value) => value !== undefined) + 1
  return values.slice(0, end).map((value) => (typeof value === 'bigint' ? String(value) : value))
}
