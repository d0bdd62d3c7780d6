import type { ApiKeyStore } from './keys/store.ts'
import type { PetStore } from './pets/store.ts'
import { ResourceList, resource } from './resource-list.ts'
import type { BaseStore } from './store.ts'

/** Every resource of the service. This is the only list. Its names are stored with idempotency keys. */

export { type PetStatus, petStatuses } from './pets/shared.ts'
export type { NewPet, Pet } from './pets/store.ts'

interface Stores {
  apiKeys: ApiKeyStore
  pets: PetStore
}

export interface Store extends BaseStore, Stores {}

export const resources = new ResourceList<Stores>({
  url: import.meta.url,
  migrations: {
    sqlite: [new URL('sqlite/migrations', import.meta.url)],
    postgres: [new URL('postgres/migrations', import.meta.url)],
  },
  resources: {
    apiKeys: resource(
      async () => (await import('./keys/sqlite.ts')).apiKeysOnSqlite,
      async () => (await import('./keys/postgres.ts')).apiKeysOnPostgres,
    ),
    pets: resource(
      async () => (await import('./pets/sqlite.ts')).petsOnSqlite,
      async () => (await import('./pets/postgres.ts')).petsOnPostgres,
    ),
  },
})
