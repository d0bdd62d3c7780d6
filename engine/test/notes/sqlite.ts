import { inserterOf, Refusal, type SqliteAccess, type SqliteMutation } from '#store'
import { type AddedBook, type BookWithNotes, books, maxOnShelf, type Note, notes, type Shelf } from './tables.ts'

const createWithNotes: SqliteMutation<BookWithNotes, AddedBook> = {
  fields: ['title', 'shelf', 'isLent', 'notes'],
  prepare(connection) {
    const count = connection.prepare<[string], bigint>('SELECT count(*) FROM books WHERE shelf = ?').pluck()
    const [insertBook, insertNote] = [inserterOf(books)(connection), inserterOf(notes)(connection)]

    return ({ notes, ...book }) => {
      if (Number(count.get(book.shelf)) >= maxOnShelf) throw new Refusal('The shelf is full.')
      const { id, addedAt } = insertBook(book)
      const added = notes.map((note) => insertNote({ ...note, state: 'open', bookId: id }))
      return { id, addedAt, noteIds: added.map((note) => note.id) }
    }
  },
}

export const mutations = { createWithNotes }

export const reads = ({ read }: SqliteAccess) => ({
  shelves: read((connection) => {
    const select = connection.prepare<[state: Note['state']], Shelf>(`
      SELECT shelf, count(DISTINCT books.id) AS books, count(notes.id) AS notes
      FROM books LEFT JOIN notes ON notes.book_id = books.id AND notes.state = ?
      WHERE shelf IS NOT NULL GROUP BY shelf ORDER BY shelf LIMIT 100`)
    return (state: Note['state']) => select.all(state)
  }),
})
