import type { NewPet, Pet } from '../../client/index.ts'
import { textsOf } from '../messages/texts.ts'
import { resourceOf } from '../resource.ts'
import { texts } from './en.ts'

/** The pets of the store. The console derives from their fields how it shows, adds, imports, exports and requests them. */
export const petResource = resourceOf<Pet, NewPet>({
  one: 'pet',
  many: 'pets',
  idName: 'petId',
  title: 'name',
  counted: 'status',
  isGetDeprecated: true,
  procedures: ({ pets }) => pets,
  texts: textsOf(texts, { de: () => import('./de.ts') }),
  fields: {
    id: { kind: 'id', presence: 'generated' },
    name: { kind: 'text', presence: 'required', maxLength: 255, isSearched: true, samples: ['Rex', 'Minka'] },
    categoryId: { kind: 'integer', presence: 'required', isSearched: true, samples: [7n, 7n] },
    status: {
      kind: 'choice',
      presence: 'optional',
      choices: { available: true, pending: true, sold: true },
      isFilter: true,
      default: 'available',
      samples: ['available', 'sold'],
    },
  },
})
