import type { Transfer } from '#service'
import { Book, NewBook } from './books.ts'
import { appRouter, NewNote, Note } from './notes.ts'
import { definition, type NotesStore } from './store.ts'

/** For the commands that export and import notes. */
export const noteTransfer: Transfer<NotesStore, NewNote> = {
  name: 'note',
  plural: 'notes',
  item: Note,
  newItem: NewNote,
  collection: ({ notes }) => notes,
}

/** The same for books. */
export const bookTransfer: Transfer<NotesStore, NewBook> = {
  name: 'book',
  plural: 'books',
  item: Book,
  newItem: NewBook,
  collection: ({ books }) => books,
}

/** What the service consists of. */
export const service = {
  product: {
    name: 'Notes',
    command: 'notes',
    version: '1.0.0',
    apiVersion: '1.0.0',
    keyPrefix: 'note_',
    description: 'Keeps notes.',
  },
  store: definition,
  router: appRouter,
  transfer: [bookTransfer, noteTransfer],
}
