import { callerOf, defineService, readBody } from '#service'
import { bookTransfer } from './books.ts'
import { NewNote, noteTransfer } from './notes.ts'
import { dependencies, settings } from './printer.ts'
import { appRouter } from './router.ts'
import { definition } from './store.ts'

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
