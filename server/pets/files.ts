import type { ImportExport } from '#service'
import type { Store } from '../../db/store.ts'
import { NewPet, Pet } from './pets.ts'

/** For the commands that export, import and create pets. */
export const petFiles: ImportExport<Store, NewPet> = {
  name: 'pet',
  plural: 'pets',
  item: Pet,
  newItem: NewPet,
  examples: {
    name: (faker) => (faker.datatype.boolean() ? faker.animal.petName() : faker.person.firstName()),
    categoryId: (faker) => BigInt(faker.number.int({ min: 1, max: 8 })),
    status: (faker) =>
      faker.helpers.weightedArrayElement([
        { value: 'available', weight: 7 },
        { value: 'pending', weight: 1 },
        { value: 'sold', weight: 2 },
      ]),
  },
  collection: ({ pets }) => pets,
}
