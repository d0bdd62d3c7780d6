import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Pet } from '../../../../db/pets/pets.ts'
import type { Store } from '../../../../db/store.ts'
import { addPets, openTestStore } from '../../../../test/support/database.ts'
import { createKey } from '../../../../test/support/product.ts'
import { temporaryFolder } from '../../../../test/support/temporary.ts'
import { exportText, importText, ndjsonOf } from '../../../../test/support/transfer.ts'
import { maxInt64, minInt64 } from '../../../service/api/int64.ts'
import { describeKeys, listKeys } from '../../../service/commands/key-actions.ts'
import { StoreUnavailable } from '../../collection/errors.ts'

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
  test('creates nothing when it is repeated, unless the path of the file or the key is another one', async () => {
    const [store, file] = [await openTestStore(), join(temporaryFolder(), 'pets')]
    const text = ndjsonOf(3)
    expect(await importText(store, text, { file })).toEqual({ created: 3, existing: 0 })
    expect(await importText(store, text, { file })).toEqual({ created: 0, existing: 3 })
    expect(await importText(store, text)).toEqual({ created: 3, existing: 0 })
    expect(await importText(store, text, { key: 'a' })).toEqual({ created: 3, existing: 0 })
    expect(await importText(store, text, { key: 'a' })).toEqual({ created: 0, existing: 3 })
    expect(await importText(store, text, { key: file })).toEqual({ created: 3, existing: 0 })
  })

  test('creates each pet once when it is repeated with lines that were corrected, added, removed or moved', async () => {
    const lines = ['Rex', 'Rex', 'Minka', '', 'Rex', 'Minka', 'Bella'].map(
      (name) => `{"name":"${name}","categoryId":1}`,
    )
    const corrected = lines.with(3, '{"name":"Rex","categoryId":1}')
    const removed = lines.toSpliced(3, 1)
    const added = corrected.toSpliced(1, 0, '{"name":"Ada","categoryId":1}')
    for (const onInvalid of [undefined, () => {}]) {
      for (const repeated of [corrected, removed, added, corrected.toReversed()]) {
        const [store, file] = [await openTestStore(), join(temporaryFolder(), 'pets')]
        const first = importText(store, lines.join('\n'), { file, ...(onInvalid && { onInvalid }) })
        if (onInvalid) expect(await first).toEqual({ created: 6, existing: 0 })
        else await expect(first).rejects.toThrow(/^Line 4 of .* 3 pets created, 0 already existed\./)
        const existing = onInvalid ? 6 : 3
        expect(await importText(store, repeated.join('\n'), { file })).toEqual({
          created: repeated.length - existing,
          existing,
        })
        const names = (await allPets(store)).map(({ name }) => name)
        expect(names.toSorted()).toEqual(repeated.map((line) => JSON.parse(line).name).toSorted())
      }
    }
  })

  test('says what it has created when the rest of the file cannot be read', async () => {
    const [store, file] = [await openTestStore(), join(temporaryFolder(), 'pets')]
    const start = ndjsonOf(2_000)
    const broken = Buffer.concat([Buffer.from(start), Buffer.from('"Fran\xe7ois"', 'latin1')])
    const message = await importText(store, broken, { file }).catch((error: Error) => error.message)
    expect(message).toMatch(
      /^Line 2001 of .* is not UTF-8 text\. Save it as “CSV UTF-8”\. \d+ pets created, 0 already existed\. Run /,
    )
    const { created, existing } = await importText(store, start, { file })
    expect(message).toContain(` ${existing} pets created`)
    expect([created + existing, (await allPets(store)).length]).toEqual([2_000, 2_000])
  })

  test('assigns ids in the order of the lines', async () => {
    const store = await openTestStore()
    await importText(store, ndjsonOf(700))
    const pets = await allPets(store)
    expect(pets.map(({ name }) => name)).toEqual(pets.map(({ id }) => `pet ${id}`))
    expect(pets).toHaveLength(700)
  })

  test('is completed by running it again after the database has failed', async () => {
    const [store, file] = [await openTestStore(), join(temporaryFolder(), 'pets')]
    const { create } = store.pets
    let calls = 0
    store.pets.create = async (pet, idempotency) => {
      const result = await create(pet, idempotency)
      // The pet is stored, but the import does not learn of it.
      if (++calls === 700) throw new StoreUnavailable('The disk does not respond.')
      return result
    }
    await expect(importText(store, ndjsonOf(1_100), { file })).rejects.toThrow(
      'The disk does not respond. 999 pets created, 0 already existed. Run the command again within 24 hours',
    )
    const { created, existing } = await importText(store, ndjsonOf(1_100), { file })
    expect([created, existing]).toEqual([100, 1_000])
    expect(new Set((await allPets(store)).map(({ name }) => name)).size).toBe(1_100)
    expect(await allPets(store)).toHaveLength(1_100)
  })

  test('that two processes run at the same time creates each pet once', async () => {
    const [store, file] = [await openTestStore(), join(temporaryFolder(), 'pets')]
    const results = await Promise.all([1, 2].map(() => importText(store, ndjsonOf(600), { file })))
    expect(results.reduce((sum, { created }) => sum + created, 0)).toBe(600)
    expect(await allPets(store)).toHaveLength(600)
  })
})

describe('an import', () => {
  test('adds no API key, so that the first key can be created', async () => {
    const store = await openTestStore()
    await importText(store, ndjsonOf(1))
    expect(await store.apiKeys.list()).toEqual([])
    const first = {
      name: 'first',
      start: 'pet_',
      hash: 'a'.repeat(64),
      createdAt: new Date(),
      access: 'write' as const,
    }
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
