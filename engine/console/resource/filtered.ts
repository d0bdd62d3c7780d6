import type { Noun, Resource, Values } from '../resource.ts'
import { listOf } from '../texts/formats.ts'
import { nameOf } from './queries.ts'

/** The words for the items that a filter lets through, such as `large toy with size 7`. */
export function nounOf({ one, many, fields }: Resource, filter: Values): Noun {
  const namesOf = (isChoice: boolean) =>
    fields
      .filter(({ name, choices }) => name in filter && (choices !== undefined) === isChoice)
      .map((field) => nameOf(field, filter[field.name]))
  const others = namesOf(false)
  const phrase = (noun: string) =>
    [...namesOf(true), noun, ...(others.length > 0 ? ['with', listOf(others)] : [])].join(' ').toLowerCase()
  return { one: phrase(one), many: phrase(many) }
}
