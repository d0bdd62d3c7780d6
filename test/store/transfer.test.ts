import { describe, expect, test } from 'vitest'
import type { Pet } from '../../db/pets/store.ts'
import type { Store } from '../../db/resources.ts'
import { StoreUnavailable } from '../../db/store.ts'
import { maxInt64, minInt64 } from '../../server/api/int64.ts'
import { createKey, describeKeys, listKeys } from '../../server/ops/keys.ts'
import { addPets, openTestStore } from '../support/database.ts'
import { exportText, importText, ndjsonOf } from '../support/transfer.ts'

const names = [
  'Rex',
  ' Rex ',
  '"',
  'a,b',
  "'",
  '=1+1',
  '-5',
  '@a',
  '🐕',
  'a\u2028b\u2029c',
  '\ufeffRex',
  '\\n',
  '1',
  '#',
]

describe.for(['ndjson', 'csv'] as const)('an export as %s', (format) => {
  test('is the same after an import into an empty database', async () => {
    const [source, target] = [await openTestStore(), await openTestStore()]
    for (const [index, name] of names.entries()) {
      const categoryId = [maxInt64, minInt64, 9007199254740993n][index % 3] ?? 0n
      await source.pets.create({ name, categoryId, status: index % 2 ? 'sold' : 'available' })
    }
    await addPets(source, 1_000)
    const text = await exportText(source, format)
    expect(await importText(target, text, { format })).toEqual({ created: names.length + 1_000, existing: 0 })
    expect(await allPets(target)).toEqual(await allPets(source))
    expect(await exportText(target, format)).toBe(text)
  })

  test('has the pets of one status only, if it is chosen', async () => {
    const store = await openTestStore()
    await store.pets.create({ name: 'Rex', categoryId: 1n, status: 'sold' })
    await store.pets.create({ name: 'Minka', categoryId: 2n, status: 'available' })
    const text = await exportText(store, format, 'sold')
    expect(text).toBe(
      format === 'csv'
        ? 'id,name,categoryId,status\r\n1,Rex,1,sold\r\n'
        : '{"id":1,"name":"Rex","categoryId":1,"status":"sold"}\n',
    )
  })
})

describe('an import', () => {
  test('creates nothing when it is repeated, unless the file or the key is another one', async () => {
    const store = await openTestStore()
    const text = ndjsonOf(3)
    expect(await importText(store, text)).toEqual({ created: 3, existing: 0 })
    expect(await importText(store, text)).toEqual({ created: 0, existing: 3 })
    expect(await importText(store, `${text}\n`)).toEqual({ created: 3, existing: 0 })
    expect(await importText(store, text, { key: 'a' })).toEqual({ created: 3, existing: 0 })
    expect(await importText(store, ndjsonOf(5), { key: 'a' })).toEqual({ created: 2, existing: 3 })
  })

  test('stops at a line that differs from an earlier import with the same key', async () => {
    const store = await openTestStore()
    await importText(store, ndjsonOf(3), { key: 'a' })
    const changed = ndjsonOf(4).replace('pet 2', 'Minka')
    await expect(importText(store, changed, { key: 'a' })).rejects.toThrow('Line 2 differs from that of an earlier')
  })

  test('assigns ids in the order of the lines', async () => {
    const store = await openTestStore()
    await importText(store, ndjsonOf(700))
    const pets = await allPets(store)
    expect(pets.map(({ name }) => name)).toEqual(pets.map(({ id }) => `pet ${id}`))
    expect(pets).toHaveLength(700)
  })

  test('is completed by running it again after the database has failed', async () => {
    const store = await openTestStore()
    const { create } = store.pets
    let calls = 0
    store.pets.create = async (pet, once) => {
      const result = await create(pet, once)
      // The pet is stored, but the import does not learn of it.
      if (++calls === 700) throw new StoreUnavailable('The disk does not respond.')
      return result
    }
    await expect(importText(store, ndjsonOf(1_100))).rejects.toThrow(
      'Stopped after 500 pets: The disk does not respond. Run the command again within 24 hours',
    )
    const { created, existing } = await importText(store, ndjsonOf(1_100))
    expect([created, existing]).toEqual([100, 1_000])
    expect(new Set((await allPets(store)).map(({ name }) => name)).size).toBe(1_100)
    expect(await allPets(store)).toHaveLength(1_100)
  })

  test('that two processes run at the same time creates each pet once', async () => {
    const store = await openTestStore()
    const results = await Promise.all([importText(store, ndjsonOf(600)), importText(store, ndjsonOf(600))])
    expect(results.reduce((sum, { created }) => sum + created, 0)).toBe(600)
    expect(await allPets(store)).toHaveLength(600)
  })
})

describe('an import', () => {
  test('adds no API key, so that the first key can be created', async () => {
    const store = await openTestStore()
    await importText(store, ndjsonOf(1))
    expect(await store.apiKeys.list()).toEqual([])
    const first = { name: 'first', start: 'pet_', hash: 'a'.repeat(64), createdAt: new Date() }
    expect(await store.apiKeys.createFirst(first)).toBe(true)
    expect(await store.apiKeys.createFirst({ ...first, hash: 'b'.repeat(64) })).toBe(false)
    await createKey(store, 'pets import')
    await importText(store, ndjsonOf(2))
    expect((await describeKeys(await listKeys(store))).split('\n')).toHaveLength(3)
  })
})

async function allPets({ pets }: Store): Promise<Pet[]> {
  return pets.list({ limit: 100_000, cursor: 0n })
}
