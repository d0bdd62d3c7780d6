import type { Faker } from '@faker-js/faker'
import { count } from '../ops/format.ts'
import { OperatorError } from '../ops/operator-error.ts'
import { type Field, fieldsOf, type ItemStore, type ItemType, type Kind } from './fields.ts'
import { createBatches } from './import.ts'

const groupSize = 1_000

/** Makes up a value of each kind, for a field without a maker of its own. */
const examplesOfKinds: Record<Kind, (faker: Faker, field: Field) => unknown> = {
  bigint: (faker) => BigInt(faker.number.int({ min: 1, max: 100 })),
  boolean: (faker) => faker.datatype.boolean(),
  date: (faker) => faker.date.past(),
  enum: (faker, { values }) => faker.helpers.arrayElement(values),
  string: (faker) => faker.lorem.words(),
}

/** Creates items one after the other, as if clients had sent them. */
export async function seedItems<New>(
  { name, plural }: ItemType<New>,
  items: ItemStore<New>,
  rows: number,
  next: () => New,
  onProgress?: (items: number) => void,
): Promise<void> {
  await createBatches(groupsOf(rows, next), (item) => items.create(item), {
    onProgress,
    outcome: (done) => `${count(done, name, plural)} created.`,
  })
}

/**
 * Resolves to a function that makes up a realistic item. An optional field is sometimes absent.
 *
 * @param seed from 0 to 4294967295. The same seed gives the same items in the same order.
 * @throws {OperatorError} if the package that makes up the values is not installed.
 */
export async function itemSource<New>(
  itemType: Omit<ItemType<New>, 'name' | 'plural'>,
  seed: number,
): Promise<() => New> {
  const { faker } = await importFaker()
  faker.seed(seed)
  const fields = fieldsOf(itemType).filter(({ isGiven }) => isGiven)
  const own = new Map<string, (faker: Faker) => unknown>(Object.entries(itemType.examples ?? {}))
  const makeUp = (field: Field) => (own.get(field.name) ?? examplesOfKinds[field.kind])(faker, field)
  return () => {
    const given = fields.filter(({ isOptional }) => !isOptional || faker.datatype.boolean())
    return itemType.newItem.parse(Object.fromEntries(given.map((field) => [field.name, makeUp(field)])))
  }
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

function* groupsOf<T>(count: number, next: () => T): Generator<T[]> {
  for (let left = count; left > 0; left -= groupSize) {
    yield Array.from({ length: Math.min(left, groupSize) }, next)
  }
}
