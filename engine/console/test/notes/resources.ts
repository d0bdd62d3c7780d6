import { resourceOf } from '#console'
import type { AppRouter } from '../../../test/notes/router.ts'

const text = { kind: 'text', maxLength: 255, presence: 'required' } as const

export const notes = resourceOf<AppRouter, 'notes'>('notes', {
  one: 'note',
  title: 'body',
  counted: 'state',
  fields: {
    id: { label: 'Id', kind: 'id', presence: 'generated' },
    body: { label: 'Text', ...text, isSearched: true, samples: ['Call Ann', 'Buy tea'] },
    priority: { label: 'Priority', kind: 'integer', presence: 'required', isSearched: true, samples: [1n, 2n] },
    state: {
      label: 'State',
      kind: 'choice',
      presence: 'optional',
      choices: { open: 'Open', waiting: 'Waiting', done: 'Done' },
      isFilter: true,
      default: 'open',
      samples: ['open', 'done'],
    },
    dueAt: { label: 'Due', kind: 'time', presence: 'optional', samples: [new Date(0), new Date(1_000)] },
    bookId: { label: 'Book', kind: 'integer', presence: 'optional', samples: [1n, 1n] },
  },
})

/** Its page has no search. */
export const books = resourceOf<AppRouter, 'books'>('books', {
  one: 'book',
  title: 'title',
  fields: {
    id: { label: 'Id', kind: 'id', presence: 'generated' },
    title: { label: 'Title', ...text, samples: ['Garden', 'Kitchen'] },
    pages: { label: 'Pages', kind: 'integer', presence: 'optional', samples: [40n, 12n] },
    isLent: {
      label: 'Place',
      kind: 'boolean',
      presence: 'required',
      choices: { true: 'Lent', false: 'Here' },
      isFilter: true,
      samples: [true, false],
    },
    shelf: { label: 'Shelf', kind: 'text', maxLength: 300, presence: 'optional', isDetail: true, samples: ['N', 'S'] },
    author: {
      label: 'Author',
      kind: 'text',
      maxLength: 300,
      presence: 'optional',
      isDetail: true,
      samples: ['A', 'B'],
    },
    addedAt: { label: 'Added', kind: 'time', presence: 'generated' },
  },
})
