import type { Transfer } from '#service'
import type { Store } from '../../db/store.ts'
import { NewPet, Pet } from './pets.ts'

export const petTransfer: Transfer<Store, NewPet> = {
  name: 'pet',
  plural: 'pets',
  item: Pet,
  newItem: NewPet,
  collection: ({ pets }) => pets,
}
