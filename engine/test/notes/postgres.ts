import { Refusal } from '#store'
import { inserterOf, type PostgresAccess, type PostgresMutation } from '#store/postgres'
import { type AddedBook, type BookWithNotes, books, maxOnShelf, type Note, notes, type Shelf } from './tables.ts'

const count = { name: 'books_on_shelf', text: 'SELECT count(*) FROM books WHERE shelf = $1' }
const [insertBooks, insertNotes] = [inserterOf(books), inserterOf(notes)]

const createWithNotes: PostgresMutation<BookWithNotes, AddedBook> = {
  fields: ['title', 'shelf', 'isLent', 'notes'],
  async run(client, { notes, ...book }) {
    const { rows } = await client.query({ ...count, values: [book.shelf] })
    if (Number(rows[0].count) >= maxOnShelf) throw new Refusal('The shelf is full.')
    const [{ id, addedAt }] = await insertBooks(client, [book])
    const added = await insertNotes(
      client,
      notes.map((note) => ({ ...note, state: 'open', bookId: id })),
    )
    return { id, addedAt, noteIds: added.map((note) => note.id) }
  },
}

export const mutations = { createWithNotes }

const selectShelves = {
  name: 'shelves',
  text: `SELECT shelf, count(DISTINCT books.id), count(notes.id)
    FROM books LEFT JOIN notes ON notes.book_id = books.id AND notes.state = $1
    WHERE shelf IS NOT NULL GROUP BY shelf ORDER BY shelf LIMIT 100`,
}

export const reads = ({ read }: PostgresAccess) => ({
  async shelves(state: Note['state']): Promise<Shelf[]> {
    const rows = await read<[string, bigint, bigint]>(selectShelves, [state])
    return rows.map(([shelf, books, notes]) => ({ shelf, books, notes }))
  },
})
