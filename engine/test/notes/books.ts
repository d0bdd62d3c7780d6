import { z } from 'zod'
import { Int64, line, mustBe, resource, Text, Time } from '#service'
import type { NotesStore } from './store.ts'
import { states } from './tables.ts'
import { mutation, query, router } from './trpc.ts'

const Words = Text.max(300)

const fields = {
  title: Words.meta({ description: 'No two books have the same one.', examples: ['Faust'] }),
  shelf: Words.optional().meta({ examples: ['North'] }),
  author: Words.optional().meta({ examples: ['Ann'] }),
  pages: Int64.optional().meta({ examples: [40] }),
  isLent: z.boolean({ error: mustBe('true or false') }).meta({ examples: [true] }),
}

export const NewBook = z.object(fields, { error: mustBe('an object') }).meta({ id: 'NewBook' })
export type NewBook = z.infer<typeof NewBook>
export const Book = z.object({ id: Int64, ...fields, addedAt: Time }).meta({ id: 'Book' })

const part = z.object({ body: line(255), priority: Int64 }, { error: mustBe('an object') })
const withNotes = {
  title: fields.title,
  shelf: Words,
  isLent: fields.isLent,
  notes: z.array(part, { error: mustBe('a list') }).max(20),
}

export const NewBookWithNotes = z.object(withNotes, { error: mustBe('an object') }).meta({ id: 'NewBookWithNotes' })
export const BookWithNotes = z
  .object({ id: Int64, ...withNotes, addedAt: Time, noteIds: z.array(Int64) })
  .meta({ id: 'BookWithNotes' })

const Shelf = z.object({ shelf: Words, books: Int64, notes: Int64 }).meta({ id: 'Shelf' })

const book = resource({
  one: 'book',
  many: 'books',
  item: Book,
  fields,
  filters: {
    shelf: fields.shelf.meta({ description: 'Returns only books of this shelf.' }),
    pages: fields.pages,
    isLent: fields.isLent.optional(),
    addedAt: Time.optional(),
  },
  search: { title: fields.title.optional(), author: fields.author },
})

export const bookTransfer = book.transfer(NewBook, ({ books }: NotesStore) => books)
const tag = { name: 'books', description: 'The books.' }

/** Their path does not have their name. */
export const booksRouter = router({
  list: query({
    tag,
    openapi: {
      method: 'GET',
      path: '/team/all-books',
      operationId: 'listBooks',
    },
    cache: true,
  })
    .input(book.listInput)
    .output(book.listOutput)
    .query(({ ctx, input }) => ctx.store.books.list(input)),

  create: mutation({
    tag,
    openapi: {
      method: 'POST',
      path: '/team/all-books',
      operationId: 'createBook',
      errorResponses: { 409: 'Another book has this title.' },
    },
    idempotencyKey: 'replays',
    creates: 'book',
  })
    .input(NewBook)
    .output(Book)
    .mutation(({ ctx, input }) => ctx.store.books.create(input, ctx.caller)),

  createWithNotes: mutation({
    tag,
    openapi: {
      method: 'POST',
      path: '/team/books-with-notes',
      operationId: 'createBookWithNotes',
      errorResponses: { 409: 'Another book has this title, or the shelf is full.' },
    },
    idempotencyKey: 'replays',
    creates: 'book',
  })
    .input(NewBookWithNotes)
    .output(BookWithNotes)
    .mutation(({ ctx, input }) => ctx.store.books.createWithNotes(input, ctx.caller)),

  shelves: query({ tag, openapi: { method: 'GET', path: '/team/shelves', operationId: 'listShelves' } })
    .input(z.object({ state: z.enum(states) }))
    .output(z.array(Shelf))
    .query(({ ctx, input }) => ctx.store.books.shelves(input.state)),

  search: query()
    .input(book.searchInput)
    .output(book.searchOutput)
    .query(({ ctx, input }) => ctx.store.books.search(input, ctx.searcher())),
})
