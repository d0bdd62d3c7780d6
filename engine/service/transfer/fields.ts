import type { AnyRouter } from '@trpc/server'
import { z } from 'zod'
import { innerOf } from '../api/schema.ts'
import type { ItemType } from '../api/transfer.ts'
import { UsageError } from '../operator/operator-error.ts'
import { proceduresOf } from '../procedures/procedures.ts'
import { type Field, parseText } from '../reader/fields.ts'

/** How files of the commands `export` and `import` hold the fields of items. */

export type Format = 'ndjson' | 'csv'

/** How each kind of schema is written in a file. */
const kinds: Partial<Record<string, Field['kind']>> = {
  bigint: 'integer',
  boolean: 'boolean',
  date: 'time',
  enum: 'choice',
  string: 'text',
}

export function transferFields({ item, newItem }: Pick<ItemType<unknown>, 'item' | 'newItem'>): Field[] {
  return Object.entries(item.shape).map(([name, schema]) => {
    const given = newItem.shape[name]
    const type = innerOf(schema)
    const { type: kindOfSchema } = type._zod.def
    const kind = kinds[kindOfSchema]
    if (!kind) throw new Error(`The field ${name} cannot be exported, because its schema is a ${kindOfSchema}.`)
    return {
      name,
      kind,
      presence: given === undefined ? 'generated' : given.isOptional() ? 'optional' : 'required',
      ...(type instanceof z.ZodEnum && {
        choices: Object.fromEntries(type.options.map((value) => [value, String(value)])),
      }),
    }
  })
}

/** The filters of an export: the parameters of the list of this resource, without those of the page. */
export function filtersOf(router: AnyRouter, resource: string) {
  const list = proceduresOf(router).find(({ name }) => name === `${resource}.list`)
  const input = list?.inputs[0] instanceof z.ZodType ? innerOf(list.inputs[0]) : undefined
  return Object.entries<z.ZodType>(input instanceof z.ZodObject ? input.shape : {})
    .filter(([name]) => name !== 'limit' && name !== 'cursor')
    .map(([name, schema]) => {
      const [field] = transferFields({ item: { shape: { [name]: schema } }, newItem: z.object({}) })
      const option = `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
      function parse(text: string): unknown {
        const { error, data } = schema.safeParse(field && parseText(field, text))
        if (error) throw new UsageError(`${option}: ${error.issues[0]?.message}.`)
        return data
      }
      return { name, option, values: Object.keys(field?.choices ?? {}), parse }
    })
}
