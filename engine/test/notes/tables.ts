import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import {
  type Entity,
  type Generated,
  int64,
  lineChecks,
  type NewEntity,
  oneOfCheck,
  positiveCheck,
  timestamp,
  timestampCheck,
} from '#store'

/** A small product, on which the tests of the engines run. */

export const states = ['open', 'waiting', 'done'] as const

/** The greatest number of notes that is counted. */
export const maxCount = 10_000

export const books = sqliteTable(
  'books',
  {
    id: int64('id').primaryKey({ autoIncrement: true }),
    title: text().notNull().unique('books_title'),
    addedAt: timestamp('added_at')
      .notNull()
      .$defaultFn(() => new Date()),
    shelf: text(),
    author: text(),
    pages: int64('pages'),
    isLent: integer('is_lent', { mode: 'boolean' }).notNull(),
  },
  (book) => [
    index('books_by_time').on(book.addedAt),
    index('books_by_shelf').on(book.shelf),
    index('books_by_pages').on(book.pages),
    index('books_by_loan').on(book.isLent),
    timestampCheck(book.addedAt),
  ],
)

export type Book = Entity<typeof books>
export type NewBook = NewEntity<typeof books>

export const notes = sqliteTable(
  'notes',
  {
    id: int64('id').primaryKey({ autoIncrement: true }),
    body: text().notNull(),
    priority: int64('priority').notNull(),
    state: text({ enum: states }).notNull(),
    dueAt: timestamp('due_at'),
    bookId: int64('book_id').references(() => books.id),
  },
  (note) => [
    index('notes_by_state').on(note.state),
    positiveCheck(note.id),
    ...lineChecks(note.body, 255),
    oneOfCheck(note.state),
    timestampCheck(note.dueAt),
  ],
)

export type Note = Entity<typeof notes>
export type NewNote = NewEntity<typeof notes>

/** The greatest number of books on a shelf. */
export const maxOnShelf = 3

/** A book that is added with notes, which are open. */
export interface BookWithNotes {
  title: string
  shelf: string
  isLent: boolean
  notes: Pick<NewNote, 'body' | 'priority'>[]
}

/** What the database generates of it. */
export interface AddedBook extends Generated<typeof books> {
  noteIds: bigint[]
}

/** A shelf, with the numbers of its books and of their notes in a state. */
export interface Shelf {
  shelf: string
  books: bigint
  notes: bigint
}
