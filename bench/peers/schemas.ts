import { z } from 'zod'

/** The schemas of the peers that validate with zod. Values of a query or a path are coerced from strings. */

const status = z.enum(['available', 'pending', 'sold'])

export const PetQuery = z.object({
  limit: z.coerce.number().int().min(1).max(100).default(20),
  cursor: z.coerce.number().int().min(0).default(0),
  status: status.optional(),
})

export const PetId = z.object({ petId: z.coerce.number().int() })

export const NewPet = z.object({
  name: z.string().min(1).max(255),
  categoryId: z.int(),
  status: status.default('available'),
})

export const Pet = z.object({ id: z.int(), ...NewPet.shape, status })

export const Pets = z.array(Pet)

export const Failure = z.object({ code: z.string(), message: z.string(), status: z.int() })
