import { index, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { RuleViolation } from '../../collection/errors.ts'
import { int64, isOneOf, isTimestamp, timestamp } from '../../collection/schema.ts'

/** A small product, on which the tests of the engine run. */

export const books = sqliteTable('books', {
  id: int64('id').primaryKey({ autoIncrement: true }),
  title: text().notNull().unique('books_title'),
})

export const notes = sqliteTable(
  'notes',
  {
    id: int64('id').primaryKey({ autoIncrement: true }),
    body: text().notNull(),
    state: text({ enum: ['open', 'done'] }).notNull(),
    priority: int64('priority').notNull(),
    dueAt: timestamp('due_at'),
    bookId: int64('book_id').references(() => books.id),
    createdAt: timestamp('created_at')
      .notNull()
      .$defaultFn(() => new Date()),
  },
  (note) => [
    index('notes_by_state').on(note.state),
    isOneOf(note.state),
    isTimestamp(note.dueAt),
    isTimestamp(note.createdAt),
  ],
)

/** At most so many notes may have the same body. */
export const maxCopies = 3

export class TooManyCopies extends RuleViolation {
  override name = 'TooManyCopies'
}

/** Adds a note with the state `open`, and refuses it afterwards if there are too many with its body. */
export interface Copy {
  body: string
  priority?: bigint | undefined
}

/** Adds a number to the priority of a note. */
export interface Raise {
  id: bigint
  by: bigint
}

export interface Raised {
  /** The priority after this call. */
  priority: bigint
}

export class NoSuchNote extends RuleViolation {
  override name = 'NoSuchNote'
}
