import { inserterOf, Refusal, type SqliteMutation } from '#store'
import { type AddedBook, type BookWithNotes, books, maxOnShelf, notes } from './tables.ts'

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
