// Made by: openapi-ts --input http://127.0.0.1:3000/openapi.json
import { createClient } from './petstore/client/index.ts'
import { createPet, getPet, listPets } from './petstore/index.ts'

/** Ids are `bigint`, but exact only up to 2^53, because they come from `JSON.parse`. The client of this project is exact. */
export async function usePetstore(service: string, apiKey: string) {
  const client = createClient({ baseUrl: `${service}/v1`, auth: apiKey, bodySerializer })

  const created = await createPet({
    client,
    headers: { 'Idempotency-Key': 'order-17' },
    body: { name: 'Rex', categoryId: 7n },
  })
  if (!created.data) throw new Error(created.error.message)
  await createPet({ client, body: { name: 'Minka', categoryId: 7n, status: 'sold' } })

  const sold = await listPets({ client, query: { status: 'sold', limit: 1 } })
  const found = await getPet({ client, path: { petId: created.data.id } })
  const refused = await listPets({ client, query: { limit: 101 } })
  const withoutKey = await listPets({ client, auth: '' })

  return {
    created: created.data,
    location: created.response?.headers.get('location'),
    sold: sold.data,
    link: sold.response?.headers.get('link'),
    found: found.data,
    refused: [refused.response?.status, refused.error?.code, refused.error?.message],
    withoutKey: [withoutKey.response?.status, withoutKey.error?.code],
  }
}

/** Replaces the generated serializer, which writes a `bigint` as a string. */
function bodySerializer(body: unknown): string {
  return JSON.stringify(body, (_key, value) => (typeof value === 'bigint' ? Number(value) : value))
}
