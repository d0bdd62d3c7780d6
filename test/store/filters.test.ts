import { expect, test } from 'vitest'
import { z } from 'zod'
import type { Procedure } from '../../engine/service/procedures/procedures.ts'
import type { Field } from '../../engine/service/reader/fields.ts'
import { fieldsOf } from '../../engine/service/transfer/fields.ts'
import { createExamples, procedures } from '../support/examples.ts'
import { contextWith, onSqlite, openTestStore } from '../support/petstore.ts'

const collections: Record<string, { filters: readonly string[]; search?: object | undefined }> = onSqlite.collections
const lists = [...procedures.values()]
  .filter(({ name }) => name.endsWith('.list'))
  .map((list) => ({ resource: list.name.replace(/\.list$/, ''), list, filters: filtersOf(list) }))

test('the filters of each resource are the optional parameters of its list', () => {
  expect(lists.some(({ filters }) => filters.length > 0)).toBe(true)
  const filters = Object.entries(collections).map(([name, { filters }]) => [name, filters.toSorted()])
  const parameters = new Map(lists.map(({ resource, filters }) => [resource, filters.toSorted()]))
  const remedy = 'Write the same names in filters of the collection in db/, and in the input of the list in server/.'
  expect(filters, remedy).toEqual(Object.keys(collections).map((name) => [name, parameters.get(name) ?? []]))
})

test.for(lists)(
  'each filter of the list of $resource returns only the rows with its value',
  async ({ resource, list, filters }) => {
    const create = procedures.get(`${resource}.create`)
    const [newItem] = create?.inputs ?? []
    const { output } = list
    if (!(newItem instanceof z.ZodObject && output instanceof z.ZodArray && output.element instanceof z.ZodObject)) {
      throw new Error(`${resource} has no procedure that creates the rows.`)
    }
    const store = await openTestStore()
    const ctx = contextWith(store)
    // What the rows may refer to.
    for (let id = 0; id < maxInteger; id++) await createExamples(ctx)
    const fields = fieldsOf({ item: output.element, newItem }).filter(({ presence }) => presence !== 'generated')
    for (let row = 0; row < 40; row++) {
      const given = fields.filter(({ name }) => row % 3 > 0 || !newItem.shape[name].safeParse(undefined).success)
      await create?.call(Object.fromEntries(given.map((field) => [field.name, sampleOf(field, row)])), ctx)
    }
    const all = await list.call({ limit: 100 }, ctx)
    if (!isRows(all)) throw new Error(`The list of ${resource} is no array of objects.`)
    expect(all).toHaveLength(maxInteger + 40)
    for (const filter of filters) {
      const values = [...new Set(all.map((row) => row[filter]))].filter((value) => value !== undefined)
      expect(values.length, filter).toBeGreaterThan(1)
      const pages = await Promise.all(values.map((value) => list.call({ limit: 100, [filter]: value }, ctx)))
      expect(pages).toEqual(values.map((value) => all.filter((row) => row[filter] === value)))
    }
  },
)

const maxInteger = 8

/** One of a few values that a field may have. */
function sampleOf({ kind, choices = {} }: Field, row: number): unknown {
  const number = 1 + (row % maxInteger)
  const values = Object.keys(choices)
  const ofKind = {
    id: undefined,
    integer: BigInt(number),
    boolean: number % 2 === 0,
    time: new Date(number),
    choice: values[row % values.length],
    text: `value ${number}`,
  }
  return ofKind[kind]
}

test('each field of a search is a parameter of its procedure, and so may be each filter', () => {
  const searches = [...procedures.values()].filter(({ name }) => name.endsWith('.search'))
  expect(searches).not.toEqual([])
  for (const procedure of searches) {
    const { search = {}, filters = [] } = collections[procedure.name.replace(/\.search$/, '')] ?? {}
    const parameters = new Set(filtersOf(procedure))
    expect(['id', ...Object.keys(search)].filter((name) => !parameters.has(name))).toEqual([])
    expect([...parameters.difference(new Set(['id', ...Object.keys(search), ...filters]))]).toEqual([])
  }
})

/** The optional parameters of a list or a search, except for those of the page. */
function filtersOf({ inputs: [input] }: Procedure): string[] {
  const schema = input instanceof z.ZodPrefault ? input.unwrap() : input
  if (!(schema instanceof z.ZodObject)) throw new Error('The input of a list or a search is an object.')
  const fields = Object.entries<z.ZodType>(schema.shape)
  return fields
    .filter(([name, field]) => field.isOptional() && !['limit', 'order', 'cursor'].includes(name))
    .map(([name]) => name)
}

function isRows(value: unknown): value is Record<string, unknown>[] {
  return Array.isArray(value)
}
