// Made by: openapi-typescript http://127.0.0.1:3000/openapi.json --default-non-nullable=false --output petstore.ts
// Without this option openapi-typescript makes properties with a default required, even in requests.
import createClient from 'openapi-fetch'
import type { paths } from './petstore.ts'

/** Ids are numbers, exact up to 2^53. In the client of this project they are `bigint`. */
export async function usePetstore(service: string, apiKey: string) {
  const petstore = createClient<paths>({
    baseUrl: `${service}/v1`,
    headers: { Authorization: `Bearer ${apiKey}` },
  })

  const created = await petstore.POST('/pets', {
    params: { header: { 'Idempotency-Key': 'order-17' } },
    body: { name: 'Rex', categoryId: 7 },
  })
  if (!created.data) throw new Error(created.error.message)
  await petstore.POST('/pets', { body: { name: 'Minka', categoryId: 7, status: 'sold' } })

  const sold = await petstore.GET('/pets', { params: { query: { status: 'sold', limit: 1 } } })
  const found = await petstore.GET('/pets/{petId}', { params: { path: { petId: created.data.id } } })
  const refused = await petstore.GET('/pets', { params: { query: { limit: 101 } } })
  const withoutKey = await petstore.GET('/pets', { headers: { Authorization: null } })

  return {
    created: created.data,
    location: created.response.headers.get('location'),
    sold: sold.data,
    link: sold.response.headers.get('link'),
    found: found.data,
    refused: [refused.response.status, refused.error?.code, refused.error?.message],
    withoutKey: [withoutKey.response.status, withoutKey.error?.code],
  }
}
