import type { StoreOf } from './collection.ts'
import { ResourceList } from './collection.ts'
import { apiKeyCollection } from './keys/keys.ts'
import { petCollection } from './pets/pets.ts'
import type { BaseStore } from './store.ts'

/** Every resource of the service. This is the only list. Its names are stored with idempotency keys. */

export { type NewPet, type Pet, type PetStatus, petStatuses } from './pets/pets.ts'

interface Stores {
  apiKeys: StoreOf<typeof apiKeyCollection>
  pets: StoreOf<typeof petCollection>
}

export interface Store extends BaseStore, Stores {}

export const resources = new ResourceList<Stores>({
  url: import.meta.url,
  migrations: {
    sqlite: [new URL('sqlite/migrations', import.meta.url)],
    postgres: [new URL('postgres/migrations', import.meta.url)],
  },
  resources: {
    apiKeys: apiKeyCollection,
    pets: petCollection,
  },
})
