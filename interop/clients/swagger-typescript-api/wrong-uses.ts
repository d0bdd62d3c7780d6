import type { Api } from './petstore.ts'

/** Checked by the compiler alone: each line below an expectation must be an error, and each other line must not. */
export async function wrongUses({ pets }: Api<unknown>): Promise<void> {
  // @ts-expect-error an unknown status
  await pets.listPets({ status: 'lost' })
  // @ts-expect-error limit is a number
  await pets.listPets({ limit: '5' })
  // @ts-expect-error petId is required
  await pets.getPet()
  // @ts-expect-error name is required
  await pets.createPet({ categoryId: 7 })
  // @ts-expect-error nothing can be deleted
  await pets.deletePet(1)

  const { data, error } = await pets.listPets()
  const pet = data[0]
  pet?.status satisfies 'available' | 'pending' | 'sold' | undefined
  error.message satisfies string
  // @ts-expect-error a pet has no such field
  pet?.owner
  // @ts-expect-error an error has no such field
  error.reason
}
