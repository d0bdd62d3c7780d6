import type { AnyRouter } from '@trpc/server'
import { z } from 'zod'
import type { IdempotencyKey } from '#store'
import { parseDigits } from '../api/int64.ts'
import { isTime } from '../api/time.ts'
import { UsageError } from '../ops/operator-error.ts'
import { operationsOf } from '../rest/operations.ts'

/** What the commands `export` and `import` need to know of the items of a collection. */

export type Format = 'ndjson' | 'csv'

type Shape = Readonly<Record<string, z.ZodType>>

export interface ItemType<New> {
  /** One item, for messages. */
  name: string
  /** Also the name of the router of their procedures. */
  plural: string
  /** An item. Its fields are the columns of a file, in their order. */
  item: { shape: Shape }
  /** An item without its id, with the rules and the messages of the API. */
  newItem: z.ZodType<New> & { shape: Shape }
}

/** A stored item. An optional field may be absent. */
export type Item = { id: bigint } & Record<string, unknown>

/** The collection of the items. */
export interface ItemStore<New> {
  list(query: { limit: number; cursor: bigint }): Promise<Item[]>
  create(item: New, idempotency?: IdempotencyKey): Promise<unknown>
}

/** Items with commands. An export has the filters of the list. */
export interface ImportExport<Store, New> extends ItemType<New> {
  collection(store: Store): ItemStore<New>
}

export interface Field {
  name: string
  kind: keyof typeof parsers
  /** Of an enum. */
  values: readonly string[]
  /** Whether a new item has it. The store assigns the other fields. */
  isGiven: boolean
  /** Whether a new item must have it. */
  isRequired: boolean
}

/** Makes a value of the text of a cell. Text that denotes no value is kept: the schema refuses it. */
const parsers = {
  bigint: (text: string) => parseDigits(text) ?? text,
  boolean: (text: string) => (text === 'true' || text === 'false' ? text === 'true' : text),
  date: (text: string) => (isTime(text) ? new Date(text) : text),
  enum: (text: string) => text,
  string: (text: string) => text,
}

export function fieldsOf({ item, newItem }: Pick<ItemType<unknown>, 'item' | 'newItem'>): Field[] {
  return Object.entries(item.shape).map(([name, schema]) => {
    const given = newItem.shape[name]
    const type = withoutOptional(schema)
    // Checked by the next line.
    const kind = type._zod.def.type as Field['kind']
    if (!Object.hasOwn(parsers, kind))
      throw new Error(`The field ${name} cannot be exported, because its schema is a ${kind}.`)
    return {
      name,
      kind,
      values: type instanceof z.ZodEnum ? type.options.map(String) : [],
      isGiven: given !== undefined,
      isRequired: given !== undefined && !given.isOptional(),
    }
  })
}

/** The filters of an export: the parameters of the list of this resource, without those of the page. */
export function filtersOf(router: AnyRouter, resource: string) {
  const list = operationsOf(router).find(({ name }) => name === `${resource}.list`)
  return Object.entries<z.ZodType>(list?.input.shape ?? {})
    .filter(([name]) => name !== 'limit' && name !== 'cursor')
    .map(([name, schema]) => {
      const [field] = fieldsOf({ item: { shape: { [name]: schema } }, newItem: z.object({}) })
      const option = `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
      /** @throws {UsageError} */
      function parse(text: string): unknown {
        const { error, data } = schema.safeParse(field && parsers[field.kind](text))
        if (error) throw new UsageError(`${option}: ${error.issues[0]?.message}.`)
        return data
      }
      return { name, option, values: field?.values ?? [], parse }
    })
}

/** The value of a cell of CSV. An empty cell of a field that is not required is absent. */
export function parseCell({ kind, isRequired }: Field, text: string): unknown {
  if (text === '' && !isRequired) return undefined
  // Without the apostrophe that an export writes before a formula.
  return parsers[kind](text.replace(/^'(?='*[=+\-@＝＋－＠])/, ''))
}

function withoutOptional(schema: z.core.$ZodType): z.core.$ZodType {
  return schema instanceof z.ZodOptional ? withoutOptional(schema.unwrap()) : schema
}
