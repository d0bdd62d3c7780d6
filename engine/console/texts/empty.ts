import type { Noun } from '../resource.ts'
import { joined, listOf, listOfAny } from './formats.ts'

/** The texts of an empty list. They are loaded with it. */
export function emptyTextsOf({ one, many }: Noun) {
  return {
    empty: `No ${many} yet`,
    addMany: `Add many ${many}`,
    emptyText: 'Add the first one here, or send a request.',
    /** @param filtered the words for what is filtered */
    emptyPart: (filtered: Noun, search: string | undefined) =>
      `No ${filtered.many}${search === undefined ? '' : ` found for “${search}”`}`,
    /** @param others the labels of the fields that are no texts */
    notFound: (filtered: Noun, texts: string[], others: string[], text: string) => {
      const words = listOf(text.split(/\s+/).map((word) => `“${word}”`))
      return `No ${filtered.one} has ${joined(', and none has ', [
        texts.length > 0 && `${words} in its ${listOfAny(texts)}`,
        others.length > 0 && `this ${listOfAny(others)}`,
      ])}.`
    },
    showAll: `Show all ${many}`,
    searchAll: 'Search without the filter',
    pastEnd: `No more ${many}`,
    pastEndText: `This page is after the last ${one}.`,
    toFirst: 'Go to the first page',
  }
}
