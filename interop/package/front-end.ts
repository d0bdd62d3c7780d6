import { createPetstoreClient, isPetstoreError, type NewPet, type Pet, type PetStatus } from 'petstore-client'

/** Uses every operation of the client. Runs in browsers and in Node. */
export async function visit(url: string, apiKey: string): Promise<string[]> {
  const { pets } = createPetstoreClient({ url, apiKey })
  const status: PetStatus = 'pending'
  const newPet: NewPet = { name: 'Rex', categoryId: 9007199254740993n, status }
  const created: Pet = await pets.create.mutate(newPet)
  const [listed, found] = await Promise.all([
    pets.list.query({ status, limit: 5 }),
    pets.get.query({ petId: created.id }),
  ])
  const problem = await pets.get.query({ petId: 404n }).catch(codeOf)
  return [...[created, ...listed, found].map(describe), String(problem)]
}

function describe({ id, name, categoryId, status }: Pet): string {
  return `${id} ${name} ${categoryId} ${status}`
}

function codeOf(error: unknown): string | undefined {
  return isPetstoreError(error) ? error.data?.code : undefined
}
