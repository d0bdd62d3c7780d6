import type { Pet } from '../../client/index.ts'
import type { ResourceTextsOf } from '../resource.ts'

/** The texts about pets. */
export const texts: ResourceTextsOf<Pet> = {
  noun: { one: 'Tier', many: 'Tiere' },
  labels: { id: 'ID', name: 'Name', categoryId: 'Kategorie', status: 'Status' },
  choices: { status: { available: 'Verfügbar', pending: 'Reserviert', sold: 'Verkauft' } },
}
