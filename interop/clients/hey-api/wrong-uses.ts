import { createPet, getPet, listPets } from './petstore/index.ts'

/** Checked by the compiler alone: each line below an expectation must be an error, and each other line must not. */
export async function wrongUses(): Promise<void> {
  // @ts-expect-error an unknown status
  await listPets({ query: { status: 'lost' } })
  // @ts-expect-error limit is a number
  await listPets({ query: { limit: '5' } })
  // @ts-expect-error petId is required
  await getPet({})
  // @ts-expect-error an id is a bigint
  await getPet({ path: { petId: 1 } })
  // @ts-expect-error name is required
  await createPet({ body: { categoryId: 7n } })

  const { data, error } = await listPets()
  const pet = data?.[0]
  pet?.status satisfies 'available' | 'pending' | 'sold' | undefined
  error?.message satisfies string | undefined
  // @ts-expect-error a pet has no such field
  pet?.owner
  // @ts-expect-error an error has no such field
  error?.reason
}
