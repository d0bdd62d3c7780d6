import { apiKeyCollection, type BaseStore, collection, defineStore, engineTables, Refusal, type StoresOf } from '#store'
import { books, maxCount, notes } from './tables.ts'

export const definition = defineStore({
  url: import.meta.url,
  program: 'notes',
  // "NOTE" in ASCII.
  applicationId: 0x4e4f5445,
  migrations: {
    sqlite: [engineTables.sqlite, new URL('migrations/sqlite', import.meta.url)],
    postgres: [engineTables.postgres, new URL('migrations/postgres', import.meta.url)],
  },
  collections: {
    apiKeys: apiKeyCollection,
    books: collection({
      table: books,
      filters: ['addedAt', 'shelf', 'pages', 'isLent'],
      search: { title: 'text', author: 'text' },
      mutations: ['create', 'update', 'remove'],
      // The methods `createWithNotes` and `shelves`, which write and read several tables.
      statements: { sqlite: () => import('./sqlite.ts'), postgres: () => import('./postgres.ts') },
    }),
    notes: collection({
      table: notes,
      filters: ['state'],
      search: { body: 'text', priority: 'value' },
      counts: { field: 'state', limit: maxCount },
      history: true,
      mutations: ['create', 'update', 'remove'],
      changes: (change) => ({
        // Within the range of int64.
        raise: change((note, { amount }: { amount: bigint }) => {
          if (note.state === 'done') throw new Refusal('The note is done.')
          const sum = note.priority + amount
          return { priority: sum === BigInt.asIntN(64, sum) ? sum : amount < 0n ? -(2n ** 63n) : 2n ** 63n - 1n }
        }),
      }),
    }),
  },
})

export interface NotesStore extends BaseStore, StoresOf<typeof definition> {}
