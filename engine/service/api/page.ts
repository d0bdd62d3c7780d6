import { z } from 'zod'
import { expectedInteger, Int64 } from './int64.ts'
import { mustBe, refuseNames } from './validation.ts'

const limitError = { error: mustBe('an integer from 1 to 100') }

export type Filters = Record<string, z.ZodOptional>

/** The input of a list with keyset pagination: a page, and the filters of the resource. `noun` is one item of the list. */
export function listInput<F extends Filters>(noun: string, plural: string, filters: F) {
  refuseNames(filters, ['limit', 'cursor'])
  return optionalObject({
    limit: pageLimit(plural),
    ...filters,
    cursor: pageCursor(noun).optional().meta({
      description: 'The id after which the page begins. The `Link` header of a full page carries it.',
    }),
  })
}

/** The input of a search: a page, and the fields that each found item matches. */
export function searchInput<F extends Filters>(noun: string, plural: string, fields: F) {
  refuseNames(fields, ['limit', 'id', 'order', 'cursor'])
  return optionalObject({
    limit: pageLimit(plural),
    id: Int64.optional().meta({ description: `Returns only the ${noun} with this id.` }),
    ...fields,
    order: z
      .enum(['newest', 'oldest'], { error: mustBe('newest or oldest') })
      .default('newest')
      .meta({
        description: '`newest` begins with the greatest id, `oldest` with the lowest one.',
        examples: ['newest'],
      }),
    cursor: pageCursor(noun).optional().meta({
      description: 'The id after which the page begins, in the order of the search: `next` of the call before.',
    }),
  })
}

function optionalObject<Shape extends z.ZodRawShape>(shape: Shape) {
  const schema = z.object(shape, { error: mustBe('an object') })
  // Safe: each field is optional or has a default.
  return schema.prefault({} as z.input<typeof schema>)
}

/** The output of a search. */
export function searchOutput<Item extends z.ZodType>(plural: string, item: Item) {
  return z.object({
    items: z.array(item).meta({ description: `The ${plural} that this call has found.` }),
    searched: z.int().meta({ description: `The number of ${plural} that this call has compared.`, examples: [7_500] }),
    next: Int64.optional().meta({
      description: `The \`cursor\` of the next call, which may find nothing. Absent if no ${plural} are left.`,
      examples: [20],
    }),
  })
}

/** The output of a count: for each value of a field, how many rows have it, up to the maximum of the collection. */
export function countsOutput<Value extends string>(plural: string, values: readonly Value[], max: number) {
  const Count = z
    .object({
      count: z
        .int()
        .min(0)
        .max(max)
        .meta({ description: `The number of ${plural}, up to a maximum.` }),
      isExact: z.boolean().meta({ description: `False if there are more ${plural} than this number.` }),
    })
    .meta({ description: `How many ${plural} have this value.` })
  // Safe: these entries have all values, and no others.
  return z.object(Object.fromEntries(values.map((value) => [value, Count])) as Record<Value, typeof Count>)
}

function pageLimit(plural: string) {
  return z
    .int(limitError)
    .min(1, limitError)
    .max(100, limitError)
    .default(20)
    .meta({ description: `Maximum number of ${plural} returned.`, examples: [20] })
}

function pageCursor(noun: string) {
  return Int64.min(0n, { error: mustBe(`the id of a ${noun}`) }).meta({ override: { minimum: 0 } })
}

/** The id of an item to find. Not {@link Int64}: an integer out of range is a valid id that no item has, which is 404. */
export const AnyId = z.bigint({ error: expectedInteger })
