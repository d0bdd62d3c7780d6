import type { TRPCClient } from '@trpc/client'
import type { AnyRouter, inferRouterInputs, inferRouterOutputs } from '@trpc/server'
import type { Batch, ServiceClient } from '#client'
import { type Field as FileField, textOf, type Values } from '#service/fields'

export type { Values } from '#service/fields'

/** The words for one item and for several. Texts, paths and procedures use the same ones. */
export interface Noun {
  one: string
  many: string
}

/** What the console knows about a resource of the API: enough to show, add, import, export and request its items. */
export interface Resource extends Noun {
  /** The field that names an item for the user. Its kind is text. */
  title: string
  /** The field by whose values the procedure `counts` counts items, if there is one. */
  counted?: string
  /** All fields, in the order in which they are shown and written. */
  fields: readonly Field[]
  /** The fields that a new item may have. */
  entered: readonly Field[]
  procedures: (client: ServiceClient) => Procedures
  /** Its name in the URL. The first resource has none. */
  page?: string
}

export interface Procedures {
  list: Query<PageInput, Item[]>
  /** Searches by the id and the searched fields. */
  search?: Query<PageInput & { order?: 'newest' | 'oldest' }, Found>
  create: Mutation<Item>
  /** Changes fields of an item, or removes it, unless an expected field has another value by then. */
  update?: Mutation<Item>
  remove?: Mutation<unknown>
  /** The updates and removals, the newest first. A key that may only read gets an error. */
  history?: Query<PageInput, HistoryEntry[]>
  counts?: Query<undefined, Readonly<Record<string, Count>>, { context: { skipBatch: true } }>
}

type PageInput = Values & { cursor?: bigint; limit: number }

interface Query<Input, Output, Options = unknown> {
  query(input: Input, options: Options & { signal: AbortSignal }): Promise<Output>
}

interface Mutation<Output> {
  mutate(
    input: Values,
    options: { context: { idempotencyKey: string; batch?: Batch; onResponse?: (response: Response) => void } },
  ): Promise<Output>
}

export type Item = Values & { id: bigint }

/** What a user does to an item: it gets other values, or is removed. */
export interface Edit {
  /** The item as the user saw it. */
  seen: Item
  /** The fields with other values. Undefined for a removal. */
  set?: Values | undefined
  /** See `editKeyOf`, but that of an addition. */
  idempotencyKey: string
  /** Whether it adds the item again, as a new one. */
  isAddition?: true
  /** The idempotency key of the edit that this one undoes. */
  undoes?: string | undefined
  /** That edit, if its response was lost. It is sent again first, so that there is something to undo. */
  repeats?: Edit
  /** The part of the list that showed the item, if one did. The item stays in it until the user moves on. */
  place?: string | undefined
}

/** An entry of the history. It also has the id of its item, with the name of the resource. */
export interface HistoryEntry {
  id: bigint
  at: Date
  keyName?: string | undefined
  idempotencyKey?: string | undefined
  kind: 'update' | 'remove'
  /** The fields that an update has changed, or all fields of a removed item. */
  before: Values
  /** The same fields after an update. */
  after?: Values | undefined
}

/** What a request has found. */
export interface Found {
  items: Item[]
  /** The number of items that were compared. */
  searched: number
  /** The cursor of the next request. Undefined if no items are left. */
  next?: bigint | undefined
}

export interface Count {
  count: number
  /** False if there are more items than were counted. */
  isExact: boolean
}

export interface Field extends FileField {
  /** The name for the user. */
  label: string
  /** The values of two examples. */
  samples?: readonly unknown[]
  /** The number of characters that a text may have. */
  maxLength?: number
  /** Whether the list can be filtered by the choices. */
  isFilter?: boolean
  /** Whether the API searches by a part of the text, or by the integer. */
  isSearched?: boolean
  /** Whether only the panel of an item shows the field, and not the list. */
  isDetail?: boolean
  /** The value that the service stores if a new item has none. */
  default?: unknown
}

/** A field as its resource defines it. Its kind and its presence follow from the types of the API. */
type FieldDefinition<Value, Presence> = {
  label: string
  presence: Presence
  isDetail?: boolean
} & (Presence extends 'generated' ? unknown : { samples: readonly [Value, Value] }) &
  ([Value] extends [bigint]
    ? { kind: 'id' } | { kind: 'integer'; isSearched?: boolean }
    : [Value] extends [boolean]
      ? { kind: 'boolean'; choices: Readonly<Record<'true' | 'false', string>>; isFilter?: boolean; default?: Value }
      : [Value] extends [Date]
        ? { kind: 'time' }
        : [Value] extends [string]
          ? string extends Value
            ? { kind: 'text'; maxLength: number; isSearched?: boolean }
            : { kind: 'choice'; choices: Readonly<Record<Value, string>>; isFilter?: boolean; default?: Value }
          : 'The console has no kind of field for this type.')

/** The parameters of the URL of a page, which is not filtered by fields of these names. */
type Parameter = 'by' | 'changes' | 'cursor' | 'open' | 'order' | 'resource' | 'search' | 'size' | 'until'

type Definitions<Stored, New, Filter, Searched> = {
  [Name in keyof Stored]-?: FieldDefinition<
    NonNullable<Stored[Name]>,
    Name extends keyof New ? (Partial<Pick<New, Name>> extends Pick<New, Name> ? 'optional' : 'required') : 'generated'
  > &
    (Name extends Exclude<Filter, Parameter> ? unknown : { isFilter?: never }) &
    (Name extends Exclude<Searched, Parameter> ? unknown : { isSearched?: never })
}

/** What the procedure `create` of a router's resource returns, and what it gets. */
type Stored<Router extends AnyRouter, Many extends string> = OfCreate<inferRouterOutputs<Router>, Many>
type New<Router extends AnyRouter, Many extends string> = OfCreate<inferRouterInputs<Router>, Many>
type OfCreate<Procedures, Many extends string> =
  Procedures extends Record<Many, { create: infer Value }> ? Value : never

/** The names of the inputs of a list or a search. */
type InputOf<Router extends AnyRouter, Many extends string, Procedure extends 'list' | 'search'> =
  inferRouterInputs<Router> extends Record<Many, Record<Procedure, infer Input>> ? keyof Extract<Input, object> : never

/**
 * A resource of the router, by the name of its procedures. A field that the types of the API lack, or one that is missing or
 * has no name for the user, does not compile. Nor does a filter or a search that the API lacks.
 */
export function resourceOf<Router extends AnyRouter, Many extends keyof TRPCClient<Router> & string>(
  many: TRPCClient<Router>[Many] extends Procedures ? Many : never,
  definition: Pick<Resource, 'one'> & {
    title: keyof Stored<Router, Many> & string
    counted?: keyof Stored<Router, Many> & string
    fields: Definitions<
      Stored<Router, Many>,
      New<Router, Many>,
      InputOf<Router, Many, 'list'>,
      InputOf<Router, Many, 'search'>
    >
  },
): Resource {
  // Safe: the names and the types are those of the definition.
  const entries = Object.entries(definition.fields) as [string, Omit<Field, 'name'>][]
  const fields = entries.map(([name, field]) => ({ name, ...field }))
  // Safe: the service has this router, whose procedures have this type.
  const procedures = (client: ServiceClient) => (client as unknown as Record<string, Procedures>)[many] as Procedures
  return { ...definition, many, procedures, fields, entered: fields.filter(({ presence }) => presence !== 'generated') }
}

/** Whether the API searches the resource. Then it also lists the newest items first. */
export function isSearchable({ fields }: Resource): boolean {
  return fields.some(({ isSearched }) => isSearched)
}

/** Whether the list can be filtered by an integer, as the search does. The service compares the items with it. */
export function isCompared({ kind, isSearched }: Field): boolean {
  return kind === 'integer' && isSearched === true
}

/** A value by which the list can be filtered, written as text. Undefined if it is none. */
export function parseFilter(field: Field, text: string | null): unknown {
  return isCompared(field) ? parseInt64(text ?? '') : field.isFilter ? parseChoice(field, text) : undefined
}

/** The value of a choice that was written as text. Undefined if the field has no such choice. */
export function parseChoice({ kind, choices = {} }: Field, text: string | null): unknown {
  if (text === null || !Object.hasOwn(choices, text)) return undefined
  return kind === 'boolean' ? text === 'true' : text
}

/** Whether two values of a field are the same. Times are objects. */
export function isSame(one: unknown, other: unknown): boolean {
  return textOf(one) === textOf(other)
}

/** An integer of 64 bits. */
export function parseInt64(word: string): bigint | undefined {
  const integer = /^-?\d+$/.test(word) ? BigInt(word) : undefined
  return integer !== undefined && BigInt.asIntN(64, integer) === integer ? integer : undefined
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
  const query = entriesOf(parameters).map(([name, value]): [string, string] => [name, textOf(value)])
  return query.length > 0 ? `?${new URLSearchParams(query)}` : ''
}

/**
 * An array for `JSON.stringify` that is equal for equal new items of a resource, also after a field without a value was
 * added.
 */
export function identityOf({ page, entered }: Resource, item: Values): unknown[] {
  const values = entered.map(({ name }) => item[name])
  const end = values.findLastIndex((value) => value !== undefined) + 1
  const texts = values.slice(0, end).map((value) => (typeof value === 'bigint' ? String(value) : value))
  return page === undefined ? texts : [page, ...texts]
}
