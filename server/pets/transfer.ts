import { petStatuses, type Store } from '../../db/resources.ts'
import type { Transfer } from '../ops/transfer/resource.ts'
import type { NewPet } from './pets.ts'

/** For the commands that export, import and create pets. */
export const petTransfer: Transfer<Store, NewPet> = {
  name: 'pet',
  plural: 'pets',
  filters: { status: petStatuses },
  async schemas() {
    const { NewPet, Pet } = await import('./pets.ts')
    return { item: Pet, newItem: NewPet }
  },
  items: ({ pets }) => pets,
}
