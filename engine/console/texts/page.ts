import type { Noun } from '../resource.ts'
import { capitalized, countOf, joined, listOfAny, number, time } from './formats.ts'

/** The texts of the page of a resource. */
export function textsOf(noun: Noun) {
  const { one, many } = noun
  const Many = capitalized(many)
  return {
    list: {
      title: (part: string | undefined) => (part ? `${part} ${many}` : Many),
      found: (text: string, title: string) => `“${text.trim()}” · ${title}`,
      all: 'All',
      more: 'More',
      count: (count: number, isExact: boolean) => `${number(count)}${isExact ? '' : '+'}`,
      moreThan: (count: number, isExact: boolean) => `${isExact ? '' : 'more than '}${number(count)}`,
      arrived: (items: number, isExact: boolean) => `${number(items)}${isExact ? '' : '+'} new`,
      goToId: 'Go to id',
      idInvalid: 'Enter 1 to 19 digits.',
      search: `Search ${many}`,
      searchHint: (labels: string[]) => capitalized(listOfAny(labels.map((label) => label.toLowerCase()))),
      clearSearch: 'Clear the search',
      filterBy: (value: string) => `Filter by ${value}`,
      searching: (found: number) => `${number(found)} found, searching…`,
      searched: (items: number) => `${number(items)} compared`,
      loading: 'Loading…',
      range: (first: number, last: number) => (first === last ? number(last) : `${number(first)}–${number(last)}`),
      rangeOf: (range: string, total: string) => `${range} of ${total}`,
      followed: (range: string) => `${range}, more follow`,
      from: (items: number, id: bigint | undefined) =>
        joined(', ', [countOf(noun, items), id !== undefined && `from id ${id}`]),
      none: `No ${many}`,
      pages: 'Pages',
      first: 'First page',
      previous: 'Previous',
      previousPage: 'Previous page',
      next: 'Next',
      nextPage: 'Next page',
      order: (isNewest: boolean) => (isNewest ? 'Newest first' : 'Oldest first'),
      outOfDate: (loadedAt: Date) => `Out of date, loaded at ${time(loadedAt)}.`,
      notLoaded: `The ${many} could not be loaded`,
      pageSize: `${Many} per page`,
      perPage: (size: number, isFitting: boolean) => (isFitting ? `Fits: ${size}` : `${size} / page`),
      changed: (items: number) =>
        countOf({ one: `${one} is new or changed.`, many: `${many} are new or changed.` }, items),
      select: (title: string) => `Select ${title}`,
      selectPage: `Select all ${many} of this page`,
      selected: (items: number) => `${number(items)} selected`,
    },

    edit: {
      saving: 'Not saved yet',
      left: 'No longer matches',
      valueOf: (label: string, value: string) => `${label}: ${value}`,
      changes: 'Changes',
    },

    add: {
      title: `Add ${one}`,
      added: (title: string, id: bigint) => `${title} was added with the id ${id}.`,
    },
  }
}

export type PageTexts = ReturnType<typeof textsOf>
