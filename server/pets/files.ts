import type { ImportExport } from '#service'
import type { Store } from '../../db/store.ts'
import { NewPet, Pet } from './pets.ts'

/** For the commands that export and import pets. */
export const petFiles: ImportExport<Store, NewPet> = {
  name: 'pet',
  plural: 'pets',
  item: Pet,
  newItem: NewPet,
  collection: ({ pets }) => pets,
}
