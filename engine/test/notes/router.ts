import { sessionRouter } from '#service'
import { booksRouter } from './books.ts'
import { notesRouter } from './notes.ts'
import { router } from './trpc.ts'

export const appRouter = router({ books: booksRouter, notes: notesRouter, session: sessionRouter })
export type AppRouter = typeof appRouter
