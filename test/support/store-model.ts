import type { Pet, PetStatus } from '../../db/pets/pets.ts'
import type { Store } from '../../db/store.ts'
import { IdempotencyKeyReused, RowConflict } from '../../engine/store/errors.ts'
import type { ApiKey, NewApiKey } from '../../engine/store/keys/store.ts'

export type PetSearch = Parameters<Store['pets']['search']>[0]

/** A model of the store with arrays. Its idempotency keys never expire. */
export function openStoreModel(): Pick<Store, 'pets' | 'apiKeys'> {
  const pets: Pet[] = []
  const keys: ApiKey[] = []
  const replays = new Map<string, Pet>()

  function addPet(pet: Omit<Pet, 'id'>): Pet {
    return pets[pets.push({ id: BigInt(pets.length + 1), ...pet }) - 1] as Pet
  }

  function addKey(key: NewApiKey): ApiKey {
    if (keys.some(({ name, revokedAt }) => !revokedAt && name === key.name)) throw new RowConflict('unique')
    return keys[keys.push({ id: BigInt(keys.length + 1), ...key }) - 1] as ApiKey
  }

  function revoke(id: bigint, revokedAt: Date): ApiKey | undefined {
    const key = keys.find((key) => key.id === id && !key.revokedAt)
    return key && Object.assign(key, { revokedAt })
  }

  return {
    pets: {
      list: async ({ limit, cursor, status }) =>
        pets.filter((pet) => pet.id > (cursor ?? 0n) && (!status || pet.status === status)).slice(0, limit),
      search: async (query) => ({ items: searchIn(pets, query), searched: pets.length }),
      get: async (id) => pets.find((pet) => pet.id === id),
      async counts() {
        const of = (status: PetStatus) => ({ count: pets.filter((pet) => pet.status === status).length, isExact: true })
        return { available: of('available'), pending: of('pending'), sold: of('sold') }
      },
      async create(pet, idempotency) {
        if (!idempotency) return addPet(pet)
        const { owner, key } = idempotency
        const earlier = replays.get(`${owner} ${key}`)
        const { id, ...rest } = earlier ?? addPet(pet)
        const before: typeof pet = rest
        const names = Object.keys({ ...rest, ...pet }) as (keyof typeof pet)[]
        if (earlier && names.some((name) => pet[name] !== before[name]))
          throw new IdempotencyKeyReused('The key was used for another operation or another input.')
        replays.set(`${owner} ${key}`, { id, ...rest })
        idempotency.isReplay = earlier !== undefined
        return { id, ...rest }
      },
    },
    apiKeys: {
      find: async (hash) => keys.find((key) => key.hash === hash),
      list: async () => keys,
      create: async (key) => addKey(key),
      createFirst: async (key) => keys.length === 0 && addKey(key) !== undefined,
      register: async (key) => !keys.some(({ hash }) => hash === key.hash) && addKey(key) !== undefined,
      revoke: async (id, at) => revoke(id, at) !== undefined,
      async rotate({ id, hash }, { name: _, access: __, ...successor }) {
        const key = keys.find((key) => key.id === id && key.hash === hash && !key.revokedAt)
        if (!key) return false
        if (keys.some((other) => other !== key && other.hash === successor.hash)) throw new RowConflict('unique')
        delete key.lastUsedAt
        Object.assign(key, successor)
        return true
      },
      async touch(id, at) {
        for (const key of keys) if (key.id === id) key.lastUsedAt = at
      },
      revision: () => undefined,
    },
  }
}

/** What a search finds in pets that one call compares. */
function searchIn(pets: Pet[], { limit, order, cursor, id, name, categoryId, status }: PetSearch) {
  const letters = (text: string) => text.normalize('NFC').toLowerCase().toUpperCase().normalize('NFC')
  const isAfter = (pet: Pet) => cursor === undefined || (order === 'newest' ? pet.id < cursor : pet.id > cursor)
  const items = pets
    .filter((pet) => (id === undefined || pet.id === id) && isAfter(pet))
    .filter((pet) => categoryId === undefined || pet.categoryId === categoryId)
    .filter((pet) => status === undefined || pet.status === status)
    .filter((pet) => name === undefined || letters(pet.name).includes(letters(name)))
  if (order === 'newest') items.reverse()
  return items.slice(0, limit)
}
