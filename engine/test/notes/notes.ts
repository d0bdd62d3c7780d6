import { z } from 'zod'
import { Int64, line, mustBe, partOfLine, resource, Time } from '#service'
import type { NotesStore } from './store.ts'
import { maxCount, states } from './tables.ts'
import { mutation, query, router } from './trpc.ts'

const State = z
  .enum(states, { error: mustBe(`one of ${states.join(', ')}`) })
  .meta({ id: 'NoteState', description: 'How far the note is.', examples: ['open'] })

const fields = {
  body: line(255).meta({ description: 'What the note says.', examples: ['Ann'] }),
  priority: Int64.meta({ description: 'How much it matters.', examples: [7] }),
  state: State,
  dueAt: Time.optional(),
  bookId: Int64.optional().meta({ description: 'Identifier of the book that holds the note.', examples: [1] }),
}

export const NewNote = z
  .object({ ...fields, state: State.default('open') }, { error: mustBe('an object') })
  .meta({ id: 'NewNote', description: 'A note to be added.' })
export type NewNote = z.infer<typeof NewNote>

export const Note = z
  .object({ id: Int64.meta({ description: 'Unique identifier.', examples: [1] }), ...fields })
  .meta({ id: 'Note', description: 'A note.' })

const note = resource({
  one: 'note',
  many: 'notes',
  item: Note,
  fields,
  filters: { state: State.optional().meta({ description: 'Returns only notes in this state.' }) },
  search: { body: partOfLine(255).optional(), priority: Int64.optional() },
})

export const noteTransfer = note.transfer(NewNote, ({ notes }: NotesStore) => notes)
const tag = { name: 'notes', description: 'The notes.' }

export const notesRouter = router({
  list: query({
    tag,
    openapi: {
      method: 'GET',
      path: '/notes',
      operationId: 'listNotes',
    },
    cache: true,
  })
    .input(note.listInput)
    .output(note.listOutput)
    .query(({ ctx, input }) => ctx.store.notes.list(input)),

  create: mutation({
    tag,
    openapi: {
      method: 'POST',
      path: '/notes',
      operationId: 'createNote',
      errorResponses: { 409: 'No book has the id.' },
    },
    idempotencyKey: 'replays',
    creates: 'note',
  })
    .input(NewNote)
    .output(Note)
    .mutation(({ ctx, input }) => ctx.store.notes.create(input, ctx.caller)),

  update: mutation({ idempotencyKey: 'replays' })
    .input(note.updateInput)
    .output(Note)
    .mutation(({ ctx, input: { noteId, expected, ...set } }) =>
      note.orNotFound(noteId, (id) => ctx.store.notes.update({ id, set, expected }, ctx.caller)),
    ),

  remove: mutation({ idempotencyKey: 'replays' })
    .input(note.removeInput)
    .output(note.removeOutput)
    .mutation(({ ctx, input: { noteId, expected } }) =>
      note.orNotFound(noteId, (id) => ctx.store.notes.remove({ id, expected }, ctx.caller)),
    ),

  raise: mutation({
    tag,
    openapi: {
      method: 'PATCH',
      path: '/notes/{noteId}/priority',
      operationId: 'raiseNote',
      errorResponses: { 409: 'The note is done.' },
    },
    idempotencyKey: 'replays',
  })
    .input(z.object({ ...note.id, amount: fields.priority }, { error: mustBe('an object') }).meta({ id: 'RaiseNote' }))
    .output(Note)
    .mutation(({ ctx, input: { noteId, amount } }) =>
      note.orNotFound(noteId, (id) => ctx.store.notes.raise({ id, amount }, ctx.caller)),
    ),

  print: mutation({ idempotencyKey: 'ignored' })
    .input(note.getInput)
    .output(Note)
    .mutation(async ({ ctx, input: { noteId } }) => {
      const printed = await note.orNotFound(noteId, (id) => ctx.store.notes.get(id))
      await ctx.dependencies.print(printed.body)
      return printed
    }),

  history: query({ access: 'write' })
    .input(note.historyInput)
    .output(note.historyOutput)
    .query(async ({ ctx, input: { noteId, ...page } }) =>
      note.historyOf(await ctx.store.notes.history({ ...page, rowId: noteId })),
    ),

  get: query({
    tag,
    openapi: {
      method: 'GET',
      path: '/notes/{noteId}',
      operationId: 'getNote',
      deprecated: true,
      errorResponses: { 404: 'No note has this id.' },
    },
    deprecation: {
      since: new Date('2026-11-20T00:00:00Z'),
      sunset: new Date('2030-12-05T00:00:00Z'),
      successor: '/notes',
      replacement: '`GET /notes` with the `state` filter',
    },
  })
    .input(note.getInput)
    .output(Note)
    .query(({ ctx, input }) => note.orNotFound(input.noteId, (id) => ctx.store.notes.get(id))),

  search: query({ cache: true })
    .input(note.searchInput)
    .output(note.searchOutput)
    .query(({ ctx, input }) => ctx.store.notes.search(input, ctx.searcher())),

  counts: query({ cache: true })
    .output(note.countsOutput(states, maxCount))
    .query(({ ctx }) => ctx.store.notes.counts()),
})
