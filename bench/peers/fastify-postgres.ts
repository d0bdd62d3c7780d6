import { fastify } from 'fastify'
import { newPet, pet, petId, petQuery } from './json-schemas.ts'
import { createPet, getPet, isAuthorized, listPets, type NewPet, type PetQuery, port } from './postgres.ts'

/** Hand-written Fastify 5 with Drizzle and node-postgres. */

const app = fastify()

app.addHook('onRequest', async (request, reply) => {
  if (await isAuthorized(request.headers.authorization)) return
  return reply.code(401).send({ code: 'unauthorized', message: 'The API key is missing or invalid.', status: 401 })
})

app.get<{ Querystring: PetQuery }>('/v1/pets', {
  schema: { querystring: petQuery, response: { 200: { type: 'array', items: pet } } },
  handler: (request) => listPets(request.query),
})

app.post<{ Body: NewPet }>('/v1/pets', {
  schema: { body: newPet, response: { 201: pet } },
  handler: async (request, reply) => {
    const created = await createPet(request.body)
    return reply.code(201).header('location', `/v1/pets/${created.id}`).send(created)
  },
})

app.get<{ Params: { petId: number } }>('/v1/pets/:petId', {
  schema: { params: petId, response: { 200: pet } },
  handler: async (request, reply) => {
    const found = await getPet(request.params.petId)
    return found ?? reply.code(404).send({ code: 'not_found', message: 'No pet has this id.', status: 404 })
  },
})

await app.listen({ port, host: '127.0.0.1' })
