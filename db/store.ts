import { apiKeyCollection, type BaseStore, defineStore, type StoresOf } from '#store'
import { petCollection } from './pets/pets.ts'

/** Every collection of the service. Their tables are also in tables.ts, for drizzle-kit. */
export const definition = defineStore({
  url: import.meta.url,
  program: 'petstore',
  // "PETS" in ASCII.
  applicationId: 0x50455453,
  // Not engineTables: these migrations are older, and create the same tables themselves.
  migrations: {
    sqlite: [new URL('migrations/sqlite', import.meta.url)],
    postgres: [new URL('migrations/postgres', import.meta.url)],
  },
  collections: { apiKeys: apiKeyCollection, pets: petCollection },
})

export interface Store extends BaseStore, StoresOf<typeof definition> {}
