import type { NewPet, Store } from '../../../db/resources.ts'
import { OperatorError } from '../operator-error.ts'
import { createBatches } from './batches.ts'

const groupSize = 1_000
const categories = 8
const statuses = [
  { value: 'available', weight: 7 },
  { value: 'pending', weight: 1 },
  { value: 'sold', weight: 2 },
] as const

/** Creates pets one after the other, as if clients had sent them. */
export async function seedPets(
  store: Store,
  count: number,
  nextPet: () => NewPet,
  onProgress?: (pets: number) => void,
): Promise<void> {
  await createBatches(groupsOf(count, nextPet), (pet) => store.pets.create(pet), {
    onProgress,
    advice: 'The pets so far are stored.',
  })
}

/**
 * Resolves to a function that makes up a realistic pet.
 *
 * @param seed from 0 to 4294967295. The same seed gives the same pets in the same order.
 * @throws {OperatorError} if the package that makes up the names is not installed.
 */
export async function petSource(seed: number): Promise<() => NewPet> {
  const { faker } = await importFaker()
  faker.seed(seed)
  return () => ({
    name: faker.datatype.boolean() ? faker.animal.petName() : faker.person.firstName(),
    categoryId: BigInt(faker.number.int({ min: 1, max: categories })),
    status: faker.helpers.weightedArrayElement(statuses),
  })
}

/** Loaded here, because the package is large and the service does not need it. */
async function importFaker() {
  try {
    return await import('@faker-js/faker/locale/en')
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND')) throw error
    throw new OperatorError(
      'The command seed needs the package @faker-js/faker, which is installed only for development. Install it with: npm install --omit=dev --no-save @faker-js/faker@10.6.0',
      { cause: error },
    )
  }
}

function* groupsOf(count: number, next: () => NewPet): Generator<NewPet[]> {
  for (let left = count; left > 0; left -= groupSize) {
    yield Array.from({ length: Math.min(left, groupSize) }, next)
  }
}
