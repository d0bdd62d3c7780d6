import { entriesOf, type Resource, type Values } from '../resource.ts'
import type { Part } from '../texts/empty.ts'
import { nameOf } from './queries.ts'

/** The names of the filtered values, for a sentence. Undefined without a filter. */
export function filteredBy({ fields }: Resource, filter: Values): Part {
  const filtered = fields.filter(({ name }) => name in filter)
  const namesOf = (isChoice: boolean) =>
    filtered
      .filter(({ choices }) => (choices !== undefined) === isChoice)
      .map((field) => nameOf(field, filter[field.name]))
  return entriesOf(filter).length > 0 ? { choices: namesOf(true), others: namesOf(false) } : undefined
}
