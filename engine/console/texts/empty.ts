import type { Noun } from '../resource.ts'
import { joined, listOf, listOfAny } from './formats.ts'

/** The names of the choices by which a list is filtered, and of its other values, such as `Category 7`. */
export type Part = { choices: string[]; others: string[] } | undefined

/** Such as `large toy with size 7`. */
export function kindOf(part: Part, noun: string): string {
  const { choices = [], others = [] } = part ?? {}
  return [...choices, noun, ...(others.length > 0 ? ['with', listOf(others)] : [])].join(' ').toLowerCase()
}

/** The texts of an empty list. They are loaded with it. */
export function emptyTextsOf({ one, many }: Noun) {
  return {
    empty: `No ${many} yet`,
    addMany: `Add many ${many}`,
    emptyText: 'Add the first one here, or send a request.',
    emptyFilter: (part: Part) => (part ? `No ${kindOf(part, many)}` : `No ${many} found`),
    /** @param others the labels of the fields that are no texts */
    notFound: (part: Part, texts: string[], others: string[], text: string) => {
      const words = listOf(text.split(/\s+/).map((word) => `“${word}”`))
      return `No ${kindOf(part, one)} has ${joined(', and none has ', [
        texts.length > 0 && `${words} in its ${listOfAny(texts)}`,
        others.length > 0 && `this ${listOfAny(others)}`,
      ])}.`
    },
    showAll: `Show all ${many}`,
    searchAll: `Search all ${many}`,
    pastEnd: `No more ${many}`,
    pastEndText: `This page is after the last ${one}.`,
    toFirst: 'Go to the first page',
  }
}
