import type { Pet, PetStatus } from '../../db/pets/pets.ts'
import type { Store } from '../../db/store.ts'
import { IdempotencyKeyReused, RowChanged, RowConflict } from '../../engine/store/collection/errors.ts'
import type { IdempotencyKey } from '../../engine/store/collection/idempotency.ts'
import type { ApiKey, NewApiKey } from '../../engine/store/keys/store.ts'

type Change = Parameters<Store['pets']['update']>[0]
export type PetSearch = Parameters<Store['pets']['search']>[0]

/** A model of the store with arrays. Its idempotency keys never expire. */
export function openStoreModel(): Pick<Store, 'pets' | 'apiKeys'> {
  const pets: Pet[] = []
  const keys: ApiKey[] = []
  const replays = new Map<string, { call: string; result: object }>()
  let lastId = 0n

  function addPet({ name, categoryId, status }: Omit<Pet, 'id'>): Pet {
    return pets[pets.push({ id: ++lastId, name, categoryId, status }) - 1] as Pet
  }

  /** Runs a call once for each idempotency key. One that finds nothing or throws does not use up its key. */
  function once<T extends object>(call: unknown[], idempotency: IdempotencyKey | undefined, run: () => T | undefined) {
    if (!idempotency) return run()
    const name = `${idempotency.owner} ${idempotency.key}`
    const text = JSON.stringify(call, (_key, value) => (typeof value === 'bigint' ? String(value) : value))
    const earlier = replays.get(name)
    if (earlier && earlier.call !== text)
      throw new IdempotencyKeyReused('The key was used for another operation or another input.')
    idempotency.isReplay = earlier !== undefined
    // Safe: the same call has returned it.
    if (earlier) return earlier.result as T
    const result = run()
    if (result) replays.set(name, { call: text, result: { ...result } })
    return result
  }

  /** Replaces a pet by what `set` makes of it, or removes it without `set`. */
  function change({ id, expected = {}, set }: Partial<Change> & { id: bigint }): Pet | undefined {
    const index = pets.findIndex((pet) => pet.id === id)
    const pet = pets[index]
    if (!pet) return undefined
    for (const name of ['name', 'categoryId', 'status'] as const) {
      if (expected[name] !== undefined && pet[name] !== expected[name]) throw new RowChanged('changed')
    }
    const given = Object.entries(set ?? {}).filter(([, value]) => value !== undefined)
    const changed = { ...pet, ...Object.fromEntries(given) }
    pets.splice(index, 1, ...(set ? [changed] : []))
    return changed
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
      // Safe: a create finds no earlier pet or returns it.
      create: async (pet, idempotency) =>
        once(['create', pet.name, pet.categoryId, pet.status], idempotency, () => addPet(pet)) as Pet,
      update: async (input, idempotency) => once(['update', input], idempotency, () => change(input)),
      remove: async ({ id, expected }, idempotency) =>
        once(['remove', id, expected], idempotency, () => change({ id, expected }) && { id }),
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
        keys.push({ ...key, id: BigInt(keys.length + 1), revokedAt: successor.createdAt })
        delete key.lastUsedAt
        delete key.expiresAt
        Object.assign(key, successor)
        return true
      },
      async touch({ id, hash }, at) {
        for (const key of keys) if (key.id === id && key.hash === hash) key.lastUsedAt = at
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
