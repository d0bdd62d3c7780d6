import type { Pet } from '../../client/index.ts'
import type { ResourceTextsOf } from '../resource.ts'

/** The texts about pets. */
export const texts: ResourceTextsOf<Pet> = {
  noun: { one: 'pet', many: 'pets' },
  labels: { id: 'Id', name: 'Name', categoryId: 'Category', status: 'Status' },
  choices: { status: { available: 'Available', pending: 'Pending', sold: 'Sold' } },
}
