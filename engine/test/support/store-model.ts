import { IdempotencyKeyReused, RowChanged } from '../../store/collection/errors.ts'
import type { Caller } from '../../store/collection/mutation.ts'
import type { NotesStore } from '../notes/store.ts'
import type { Note } from '../notes/tables.ts'

type Change = Parameters<NotesStore['notes']['update']>[0]
export type NoteSearch = Parameters<NotesStore['notes']['search']>[0]

/** What the model has of a store. */
export interface ModelledStore {
  notes: Omit<NotesStore['notes'], 'copy' | 'raise' | 'history'>
}

/** A model of the store with arrays. Its idempotency keys never expire. */
export function openStoreModel(): ModelledStore {
  const notes: Note[] = []
  const replays = new Map<string, { call: string; result: object }>()
  let lastId = 0n

  function addNote({ body, priority, state }: Omit<Note, 'id'>): Note {
    return notes[notes.push({ id: ++lastId, body, priority, state }) - 1] as Note
  }

  /** Runs a call once for each idempotency key. One that finds nothing or throws does not use up its key. */
  function once<T extends object>(call: unknown[], caller: Caller | undefined, run: () => T | undefined) {
    if (caller?.key === undefined) return run()
    const name = `${caller.owner} ${caller.key}`
    const text = JSON.stringify(call, (_key, value) => (typeof value === 'bigint' ? String(value) : value))
    const earlier = replays.get(name)
    if (earlier && earlier.call !== text)
      throw new IdempotencyKeyReused('The key was used for another operation or another input.')
    if (earlier) {
      caller.onReplay?.()
      // Safe: the same call has returned it.
      return earlier.result as T
    }
    const result = run()
    if (result) replays.set(name, { call: text, result: { ...result } })
    return result
  }

  /** Replaces a note by what `set` makes of it, or removes it without `set`. */
  function change({ id, expected = {}, set }: Partial<Change> & { id: bigint }): Note | undefined {
    const index = notes.findIndex((note) => note.id === id)
    const note = notes[index]
    if (!note) return undefined
    for (const name of ['body', 'priority', 'state'] as const) {
      if (expected[name] !== undefined && note[name] !== expected[name]) throw new RowChanged([name], 'notes')
    }
    const given = Object.entries(set ?? {}).filter(([, value]) => value !== undefined)
    const changed = { ...note, ...Object.fromEntries(given) }
    notes.splice(index, 1, ...(set ? [changed] : []))
    return changed
  }

  return {
    notes: {
      list: async ({ limit, cursor, state }) =>
        notes.filter((note) => note.id > (cursor ?? 0n) && (!state || note.state === state)).slice(0, limit),
      search: async (query) => ({ items: searchIn(notes, query), searched: notes.length }),
      get: async (id) => notes.find((note) => note.id === id),
      async counts() {
        const of = (state: Note['state']) => ({
          count: notes.filter((note) => note.state === state).length,
          isExact: true,
        })
        return { open: of('open'), waiting: of('waiting'), done: of('done') }
      },
      // Safe: a create finds no earlier note or returns it.
      create: async (note, caller) =>
        once(['create', note.body, note.priority, note.state], caller, () => addNote(note)) as Note,
      update: async (input, caller) => once(['update', input], caller, () => change(input)),
      remove: async ({ id, expected }, caller) =>
        once(['remove', id, expected], caller, () => change({ id, expected }) && { id }),
    },
  }
}

/** What a search finds in notes that one call compares. */
function searchIn(notes: Note[], { limit, order, cursor, id, body, priority, state }: NoteSearch) {
  const words = lettersOf(body ?? '')
    .split(/\s/)
    .filter(Boolean)
  const isAfter = (note: Note) => cursor === undefined || (order === 'newest' ? note.id < cursor : note.id > cursor)
  const items = notes
    .filter((note) => (id === undefined || note.id === id) && isAfter(note))
    .filter((note) => priority === undefined || note.priority === priority)
    .filter((note) => state === undefined || note.state === state)
    .filter((note) => words.every((word) => lettersOf(note.body).includes(word)))
  if (order === 'newest') items.reverse()
  return items.slice(0, limit)
}

/** The upper case of letters, of which the Latin ones have no accents. */
function lettersOf(text: string): string {
  const bases: Record<string, string> = { Æ: 'AE', Ł: 'L', Ø: 'O' }
  const upper = text.normalize('NFD').toLowerCase().toUpperCase()
  const plain = upper.replace(/(\p{Script=Latin})\p{M}+/gu, '$1')
  return plain.replace(/[ÆŁØ]/g, (letter) => bases[letter] ?? '').normalize('NFC')
}
