import { resourceOf } from '#console'
import { maxNameLength } from '../../db/pets/rules.ts'
import type { AppRouter } from '../../server/router.ts'

/** The pets of the store. The console derives from their fields how it shows, adds, imports, exports and requests them. */
export const petResource = resourceOf<AppRouter, 'pets'>('pets', {
  one: 'pet',
  title: 'name',
  counted: 'status',
  fields: {
    id: { label: 'Id', kind: 'id', presence: 'generated' },
    name: {
      label: 'Name',
      kind: 'text',
      presence: 'required',
      maxLength: maxNameLength,
      isSearched: true,
      samples: ['Rex', 'Minka'],
    },
    categoryId: { label: 'Category', kind: 'integer', presence: 'required', isSearched: true, samples: [7n, 7n] },
    status: {
      label: 'Status',
      kind: 'choice',
      presence: 'optional',
      choices: { available: 'Available', pending: 'Pending', sold: 'Sold' },
      isFilter: true,
      default: 'available',
      samples: ['available', 'sold'],
    },
  },
})
