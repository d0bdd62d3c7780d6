import type { Client } from 'openapi-fetch'
import type { paths } from './petstore.ts'

/** Checked by the compiler alone: each line below an expectation must be an error, and each other line must not. */
export async function wrongUses(petstore: Client<paths>): Promise<void> {
  // @ts-expect-error an unknown status
  await petstore.GET('/pets', { params: { query: { status: 'lost' } } })
  // @ts-expect-error limit is a number
  await petstore.GET('/pets', { params: { query: { limit: '5' } } })
  // @ts-expect-error petId is required
  await petstore.GET('/pets/{petId}')
  // @ts-expect-error name is required
  await petstore.POST('/pets', { body: { categoryId: 7 } })
  // @ts-expect-error nothing can be deleted
  await petstore.DELETE('/pets/{petId}', { params: { path: { petId: 1 } } })

  const { data, error } = await petstore.GET('/pets')
  const pet = data?.[0]
  pet?.status satisfies 'available' | 'pending' | 'sold' | undefined
  error?.message satisfies string | undefined
  // @ts-expect-error a pet has no such field
  pet?.owner
  // @ts-expect-error an error has no such field
  error?.reason
}
