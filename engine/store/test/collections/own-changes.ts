import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { definition as original } from '../../../test/notes/store.ts'
import { notes } from '../../../test/notes/tables.ts'
import {
  collection,
  defineStore,
  inserterOf,
  int64,
  Refusal,
  type SqliteMutation,
  timestamp,
  timestampCheck,
} from '../../index.ts'
import type { PostgresMutation } from '../../postgres.ts'

class Finished extends Refusal {
  override name = 'Finished'
}

const { program, applicationId, migrations, collections } = original

/** A note that is added with statements, which throw for some bodies afterwards. */
interface Added {
  body: string
  priority?: bigint | undefined
}

function refuseSome(body: string): void {
  if (body === 'a defect') throw new Error('A mutation with a defect.')
  if (body.startsWith('refused')) throw new Finished('The note is done.')
}

/** Their titles are unique. */
const addBooksAgain = 'INSERT INTO books (title, added_at, is_lent) SELECT title, added_at, is_lent FROM books'

const addOnSqlite: SqliteMutation<Added, { id: bigint }> = {
  fields: ['body', 'priority'],
  prepare(connection) {
    const insert = inserterOf(notes)(connection)
    return ({ body, priority = 0n }) => {
      const added = insert({ body, priority, state: 'open' })
      if (body === 'books again') connection.exec(addBooksAgain)
      refuseSome(body)
      return added
    }
  },
}

const addOnPostgres: PostgresMutation<Added, { id: bigint }> = {
  fields: ['body', 'priority'],
  async run(client, { body, priority = 0n }) {
    if (body === 'refused at once') return new Finished('The note is done.')
    const text = "INSERT INTO notes (body, state, priority) VALUES ($1, 'open', $2) RETURNING id"
    const { rows } = await client.query({ text, values: [body, priority] })
    if (body === 'books again') await client.query(addBooksAgain)
    refuseSome(body)
    return { id: rows[0].id }
  },
}

export const changedAt = new Date('2030-01-01T00:00:00.000Z')

/** The books, whose time is that of the last change. */
const books = sqliteTable(
  'books',
  {
    id: int64('id').primaryKey({ autoIncrement: true }),
    title: text().notNull().unique('books_title'),
    addedAt: timestamp('added_at')
      .notNull()
      .$defaultFn(() => new Date())
      .$onUpdateFn(() => changedAt),
    shelf: text(),
    author: text(),
    isLent: integer('is_lent', { mode: 'boolean' }).notNull(),
  },
  (book) => [timestampCheck(book.addedAt)],
)

/** The notes with changes of their own, of which some have a defect. */
export const definition = defineStore({
  url: import.meta.url,
  program,
  applicationId,
  migrations,
  collections: {
    apiKeys: collections.apiKeys,
    books: collection({
      table: books,
      history: true,
      changes: (change) => ({ lend: change((book) => ({ ...book, isLent: true })) }),
      mutations: ['create', 'update'],
    }),
    notes: collection({
      table: notes,
      history: true,
      changes: (change) => ({
        raise: change((note, { amount, limit = 100n }: { amount: bigint; limit?: bigint | undefined }) => {
          if (note.priority + amount > limit) throw new Refusal('The priority is too high.', 'unprocessable')
          return { priority: note.priority + amount }
        }),
        finish: change((note) => {
          if (note.state === 'done') throw new Finished('The note is done.')
          return { state: 'done', dueAt: null }
        }),
        raiseBy: change((note, { parts }: { parts: { amount: bigint }[] }) => ({
          priority: parts.reduce((sum, { amount }) => sum + amount, note.priority),
        })),
        /** Returns a whole row. */
        postpone: change((note, { dueAt }: { dueAt: Date }) => ({ ...note, dueAt, bookId: undefined })),
        fail: change(() => {
          throw Object.assign(new Error('A change with a defect.'), { code: 'EMPTY' })
        }),
        throwText: change(() => {
          throw 'A text.'
        }),
        /** Returns what its type does not allow. */
        set: change((note, { field, value }: { field: string; value: string }) => ({
          ...note,
          [field]: value === 'an object' ? { value } : value === 'null' ? null : value,
        })),
        nothing: change(() => JSON.parse('null')),
      }),
      mutations: ['create', 'update'],
      statements: {
        sqlite: async () => ({ mutations: { add: addOnSqlite } }),
        postgres: async () => ({ mutations: { add: addOnPostgres } }),
      },
    }),
  },
})
