import type { Noun, Resource, Values } from '../resource.ts'
import { filteredNoun } from '../texts/filtered.ts'
import { nameOf } from './queries.ts'

/** The words for the items that a filter lets through. */
export function nounOf(resource: Resource, filter: Values): Noun {
  const namesOf = (isChoice: boolean) =>
    resource.fields
      .filter(({ name, choices }) => name in filter && (choices !== undefined) === isChoice)
      .map((field) => nameOf(field, filter[field.name]))
  return filteredNoun(resource, namesOf(true), namesOf(false))
}
