import fc from 'fast-check'
import { expect, test } from 'vitest'
import { petStatuses } from '../../db/pets/shared.ts'
import type { NewPet, PetSearch } from '../../db/pets/store.ts'
import { openTestStore } from '../support/database.ts'
import { openStoreModel } from '../support/store-model.ts'

/** Letters whose case only some rules know, wildcards of LIKE, neighbours of the ASCII letters, and the ends of ranges of code points. */
const characters = [
  'a',
  'A',
  'b',
  'Z',
  'z',
  'é',
  'É',
  'ß',
  'ẞ',
  'İ',
  'ı',
  'K',
  'Σ',
  'ς',
  '%',
  '_',
  '\\',
  "'",
  '@',
  '[',
  '`',
  '{',
  ' ',
]
const ends = ['\u{7e}', '\u{d7ff}', '\u{e000}', '\u{ffff}', '\u{10000}', '\u{10ffff}', 'e\u0301']
const text = (maxLength: number) =>
  fc.array(fc.constantFrom(...characters, ...ends), { minLength: 1, maxLength }).map((all) => all.join(''))
const newPet = fc.record({
  name: text(4).filter((name) => name.trim() !== ''),
  categoryId: fc.constantFrom(-(2n ** 63n), 0n, 2n ** 53n + 1n, 2n ** 63n - 1n),
  status: fc.constantFrom(...petStatuses),
}) satisfies fc.Arbitrary<NewPet>
const some = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })
const search = fc
  .record({
    limit: fc.constantFrom(1, 3, 100),
    order: fc.constantFrom('newest', 'oldest'),
    status: some(fc.constantFrom(...petStatuses)),
    cursor: some(fc.constantFrom(0n, 1n, 7n, 20n, 41n, 2n ** 63n - 1n)),
    by: fc.oneof(
      fc.constant({}),
      fc.record({ name: text(2) }),
      fc.record({ categoryId: newPet.map(({ categoryId }) => categoryId) }),
      fc.record({ id: fc.constantFrom(1n, 9n, 99n, -1n) }),
    ),
  })
  .map(({ by, ...rest }): PetSearch => ({ ...rest, ...by }))

test('a search finds the same pets in the same order on both databases, whatever names and texts hold', async () => {
  const [store, model] = [await openTestStore(), openStoreModel()]
  for (const pet of fc.sample(newPet, { numRuns: 60, seed: 1 })) {
    expect(await store.pets.create(pet)).toEqual(await model.pets.create(pet))
  }
  await fc.assert(
    fc.asyncProperty(search, async (query) => {
      expect(await store.pets.search(query)).toEqual(await model.pets.search(query))
    }),
    { numRuns: 400 },
  )
})
