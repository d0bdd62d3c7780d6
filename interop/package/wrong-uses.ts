import { isPetstoreError, type NewPet, type Pet, type PetStatus } from 'petstore-client'

/** Checked by the compiler alone: each line below an expectation must be an error, and each other line must not. */
export function typesAreExact(error: unknown): (Pet | NewPet | PetStatus)[] {
  if (isPetstoreError(error)) {
    error.data?.status satisfies number | undefined
    // @ts-expect-error an error has no such field
    error.data?.reason
  }
  return [
    { id: 1n, name: 'Rex', categoryId: 7n, status: 'sold' },
    { name: 'Rex', categoryId: 7n },
    'available',
    // @ts-expect-error an id is a bigint
    { id: 1, name: 'Rex', categoryId: 7n, status: 'sold' } satisfies Pet,
    // @ts-expect-error a category is required
    { name: 'Rex' } satisfies NewPet,
    // @ts-expect-error an unknown status
    'lost' satisfies PetStatus,
  ]
}
