import { callerOf, defineService, readBody, type Transfer } from '#service'
import { Book, NewBook } from './books.ts'
import { appRouter, NewNote, Note } from './notes.ts'
import { dependencies, settings } from './printer.ts'
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
export const service = defineService({
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
  settings,
  dependencies,
  routes(app, { notes }) {
    app.get('/downloads/notes.txt', async (_request, reply) => {
      const bodies = (await notes.list({ limit: 100 })).map(({ body }) => body)
      return reply.type('text/plain; charset=utf-8').header('content-disposition', 'attachment').send(bodies.join('\n'))
    })
    app.post('/mails', (request) => notes.create(readBody(NewNote, request.body), callerOf(request)))
  },
})
