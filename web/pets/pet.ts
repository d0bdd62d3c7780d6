import type { NewPet, Pet, PetStatus } from '../../client/index.ts'
import { resourceOf } from '../resource.ts'
import { messages } from './messages.ts'

/** The pets of the store. The console derives from their fields how it shows, adds, imports, exports and requests them. */
export const petResource = resourceOf<Pet, NewPet>({
  one: 'pet',
  many: 'pets',
  noun: messages.pet.noun,
  procedures: ({ pets }) => pets,
  labels: messages.pet.labels,
  fields: {
    id: { kind: 'id', presence: 'generated' },
    name: { kind: 'text', presence: 'required', maxLength: 255, samples: ['Rex', 'Minka'] },
    categoryId: { kind: 'integer', presence: 'required', samples: [7n, 7n] },
    status: {
      kind: 'choice',
      presence: 'optional',
      choices: messages.pet.statuses,
      default: 'available',
      samples: ['available', 'sold'],
    },
  },
})

/** The name of each status for the user. */
export const statusNames: Record<PetStatus, string> = messages.pet.statuses

export const petStatuses = Object.keys(statusNames).filter(isPetStatus)

export function isPetStatus(text: unknown): text is PetStatus {
  return typeof text === 'string' && Object.hasOwn(statusNames, text)
}
