import type { PetstoreClient, PetstoreError } from '../../client/index.ts'

/** Checked by the compiler alone: each line below an expectation must be an error, and each other line must not. */
export async function inputsAndOutputsAreTyped({ pets }: PetstoreClient): Promise<void> {
  const pet = await pets.get.query({ petId: 1n })
  pet satisfies { id: bigint; name: string; categoryId: bigint; status: 'available' | 'pending' | 'sold' }
  const [first] = await pets.list.query({ limit: 5, status: 'sold', cursor: pet.id })
  first satisfies typeof pet | undefined
  await pets.list.query()
  await pets.create.mutate({ name: 'Rex', categoryId: 1n })
  const { sold } = await pets.counts.query()
  sold satisfies { count: number; isExact: boolean }

  // @ts-expect-error an id is a bigint
  await pets.get.query({ petId: 1 })
  // @ts-expect-error petId is required
  await pets.get.query({})
  // @ts-expect-error an input is required
  await pets.get.query()
  // @ts-expect-error limit is a number
  await pets.list.query({ limit: '5' })
  // @ts-expect-error an unknown status
  await pets.list.query({ status: 'lost' })
  // @ts-expect-error categoryId is required
  await pets.create.mutate({ name: 'Rex' })
  // @ts-expect-error name is a string
  await pets.create.mutate({ name: 7, categoryId: 1n })
  // @ts-expect-error a mutation is not a query
  await pets.create.query({ name: 'Rex', categoryId: 1n })
  // @ts-expect-error there is no such procedure
  await pets.update.mutate({ id: 1n })
  // @ts-expect-error a pet has no such field
  pet.owner
}

export function errorsAreTyped({ data }: PetstoreError): void {
  const [issue] = data?.issues ?? []
  issue satisfies { path: string; expectation?: string } | undefined
  data satisfies { code: string; message: string; status: number } | null | undefined

  // @ts-expect-error an issue has no such field
  issue?.message
}
