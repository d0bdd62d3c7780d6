import { createPetstoreClient, isPetstoreError, type Pet, type PetStatus } from 'petstore-client'

const { PETSTORE_URL = 'http://127.0.0.1:3000', KEY = '' } = process.env
const petstore = createPetstoreClient({ url: PETSTORE_URL, apiKey: KEY })

// The idempotency key makes repeated runs within 24 hours add one pet only.
const context = { idempotencyKey: 'rex-of-script' }
const rex = await petstore.pets.create.mutate({ name: 'Rex', categoryId: 7n }, { context })
console.log(`${rex.name} has the id ${rex.id}.`)

for await (const { id, name } of allPets('available')) console.log(`${id} ${name}`)

try {
  // Identifiers are bigints, because numbers are exact only up to 2 ** 53.
  await petstore.pets.create.mutate({ name: ' ', categoryId: 9007199254740993n })
} catch (error) {
  if (!isPetstoreError(error)) throw error
  console.log(`${error.data?.code}: ${error.message}`)
}

/** Reads all pages. Each page starts after the last id of the previous one. */
async function* allPets(status: PetStatus): AsyncGenerator<Pet> {
  const limit = 100
  let page: Pet[] = []
  do {
    page = await petstore.pets.list.query({ status, limit, cursor: page.at(-1)?.id })
    yield* page
  } while (page.length === limit)
}
