import { z } from 'zod'
import { Int64, pageOf, Text, Time } from '../../../engine/service/index.ts'
import { mutation, appRouter as notesRouter, procedure, router } from '../../../engine/test/notes/notes.ts'

const Book = z.object({ id: Int64, title: Text, addedAt: Time }).meta({ id: 'Book' })
const tag = { name: 'books', description: 'The books.' }

/** Their path does not have their name. */
const books = router({
  list: procedure
    .meta({ tag, openapi: { method: 'GET', path: '/team/all-books', operationId: 'listBooks' } })
    .input(pageOf('book', 'books', {}))
    .output(z.array(Book))
    .query(({ ctx, input }) => ctx.store.books.list(input)),

  create: mutation({
    tag,
    openapi: { method: 'POST', path: '/team/all-books', operationId: 'createBook' },
    idempotencyKey: 'replays',
    creates: 'book',
  })
    .input(z.object({ title: Text }).meta({ id: 'NewBook' }))
    .output(Book)
    .mutation(({ ctx, input }) => ctx.store.books.create(input, ctx.idempotency)),
})

/** The procedures of the notes, and those of a second resource. */
export const appRouter = router({ ...notesRouter._def.record, books })
export type AppRouter = typeof appRouter
