import type { Pet, PetStatus } from '../../client/index.ts'
import { joined, number } from '../messages/en.ts'
import { messages as general } from '../messages/index.ts'

/** The texts of the console with those about pets. */
export const messages = {
  ...general,

  list: {
    title: (status: string | undefined) => (status ? `${status} pets` : 'Pets'),
    filter: 'Status',
    all: 'All',
    count: (count: number, isExact: boolean) => `${number(count)}${isExact ? '' : '+'}`,
    share: (status: string, count: string) => `${status}: ${count}`,
    goToId: 'Go to id',
    idInvalid: 'Enter 1 to 19 digits.',
    justAdded: 'Just added',
    dismiss: 'Dismiss',
    loading: 'Loading…',
    range: (first: number, last: number) => `${number(first)}–${number(last)}`,
    rangeOf: (range: string, total: string) => `${range} of ${total}`,
    after: (pets: number, id: bigint) => `${pets === 1 ? '1 pet' : `${pets} pets`} after id ${id}`,
    none: 'No pets',
    pages: 'Pages',
    first: 'First page',
    previous: 'Previous',
    previousPage: 'Previous page',
    next: 'Next',
    nextPage: 'Next page',
    newest: 'Newest pets',
    refresh: 'Refresh',
    updated: (age: string) => `Updated ${age}`,
    outOfDate: (age: string) => `Out of date, updated ${age}.`,
    age: (seconds: number) => {
      if (seconds < 2) return 'just now'
      if (seconds < 60) return `${seconds} s ago`
      return seconds < 3_600 ? `${Math.floor(seconds / 60)} min ago` : `${Math.floor(seconds / 3_600)} h ago`
    },
    empty: 'No pets yet',
    emptyText: 'Add the first one here, or send a request.',
    emptyCurl: 'A request, with your API key in PETSTORE_API_KEY',
    emptyFilter: (status: string) => `No ${status.toLowerCase()} pets`,
    showAll: 'Show all pets',
    pastEnd: 'No more pets',
    pastEndText: 'This page is after the last pet.',
    toFirst: 'Go to the first page',
    notLoaded: 'The pets could not be loaded',
  },

  pet: {
    noun: { one: 'pet', many: 'pets' },
    labels: { id: 'Id', name: 'Name', categoryId: 'Category', status: 'Status' } satisfies Record<keyof Pet, string>,
    statuses: { available: 'Available', pending: 'Pending', sold: 'Sold' } satisfies Record<PetStatus, string>,
    heading: (id: bigint) => `Pet ${id}`,
    spaces: (start: number, end: number) => {
      const spaces = (count: number) => (count === 1 ? '1 space' : `${count} spaces`)
      const parts = [start > 0 && `starts with ${spaces(start)}`, end > 0 && `ends with ${spaces(end)}`]
      return `The name ${joined(' and ', parts)}.`
    },
    copyId: 'Copy id',
    copyLink: 'Copy link',
    copyJson: 'Copy JSON',
    previous: 'Previous pet',
    next: 'Next pet',
    loading: 'Loading the pet',
    missing: (id: bigint) => `No pet has the id ${id}`,
    missingText: 'It may never have existed, or it was deleted.',
    notLoaded: 'The pet could not be loaded',
  },

  add: {
    title: 'Add pet',
    description: (integer: unknown, isOptional: boolean) =>
      joined(' ', [integer !== undefined && `An integer, such as ${integer}.`, isOptional && 'Optional.']),
    submit: 'Add pet',
    adding: 'Adding…',
    retry: 'Try again',
    another: 'Add another',
    added: (name: string, id: bigint) => `${name} was added with the id ${id}.`,
    uncertain: 'The pet may not have been added',
    uncertainText: 'Try again: the pet is added only once.',
    notAdded: 'The pet was not added',
    missing: (label: string, isChoice: boolean) => `${isChoice ? 'Choose' : 'Enter'} ${a(label)}.`,
    expected: (expectation: string) => `Expected ${expectation}.`,
  },

  calls: {
    list: 'This page',
    get: 'By id (deprecated)',
    find: 'From the list',
    create: 'New pet',
  },
}

function a(label: string): string {
  return `${/^[aeiou]/i.test(label) ? 'an' : 'a'} ${label.toLowerCase()}`
}
