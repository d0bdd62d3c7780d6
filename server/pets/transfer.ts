import type { Transfer } from '#service'
import type { Store } from '../../db/store.ts'
import { NewPet, Pet } from './pets.ts'

/** For the commands that export and import pets. */
export const petTransfer: Transfer<Store, NewPet> = {
  name: 'pet',
  plural: 'pets',
  item: Pet,
  newItem: NewPet,
  collection: ({ pets }) => pets,
}
