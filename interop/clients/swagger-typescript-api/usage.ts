// Made by: swagger-typescript-api generate --path http://127.0.0.1:3000/openapi.json --name petstore.ts --disable-throw-on-error
import { Api, PetStatus } from './petstore.ts'

/** Ids are numbers, exact up to 2^53. In the client of this project they are `bigint`. */
export async function usePetstore(service: string, apiKey: string) {
  const { pets } = new Api({
    baseUrl: `${service}/v1`,
    securityWorker: () => ({ headers: { Authorization: `Bearer ${apiKey}` } }),
  })

  const created = await pets.createPet({ name: 'Rex', categoryId: 7 }, { headers: { 'Idempotency-Key': 'order-17' } })
  if (!created.ok) throw new Error(created.error.message)
  await pets.createPet({ name: 'Minka', categoryId: 7, status: PetStatus.Sold })

  const sold = await pets.listPets({ status: PetStatus.Sold, limit: 1 })
  const found = await pets.getPet(created.data.id)
  const refused = await pets.listPets({ limit: 101 })
  const withoutKey = await pets.listPets({}, { secure: false })

  return {
    created: created.data,
    location: created.headers.get('location'),
    sold: sold.data,
    link: sold.headers.get('link'),
    found: found.data,
    refused: [refused.status, refused.error.code, refused.error.message],
    withoutKey: [withoutKey.status, withoutKey.error.code],
  }
}
