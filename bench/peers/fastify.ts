import { fastify } from 'fastify'
import {
  createPet,
  getPet,
  isAuthorized,
  listPets,
  type NewPet,
  notFound,
  type PetQuery,
  port,
  unauthorized,
} from './database.ts'
import { newPet, pet, petId, petQuery } from './json-schemas.ts'

/** Hand-written Fastify 5: JSON Schemas validate the input and serialize the output. */

const app = fastify()

app.addHook('onRequest', (request, reply, done) => {
  if (isAuthorized(request.headers.authorization)) done()
  else reply.code(401).send(unauthorized)
})

app.get<{ Querystring: PetQuery }>('/v1/pets', {
  schema: {
    querystring: petQuery,
    response: { 200: { type: 'array', items: pet } },
  },
  handler: (request, reply) => {
    reply.send(listPets(request.query))
  },
})

app.post<{ Body: NewPet }>('/v1/pets', {
  schema: {
    body: newPet,
    response: { 201: pet },
  },
  handler: (request, reply) => {
    const created = createPet(request.body)
    reply.code(201).header('location', `/v1/pets/${created.id}`).send(created)
  },
})

app.get<{ Params: { petId: number } }>('/v1/pets/:petId', {
  schema: {
    params: petId,
    response: { 200: pet },
  },
  handler: (request, reply) => {
    const found = getPet(request.params.petId)
    if (found) reply.send(found)
    else reply.code(404).send(notFound)
  },
})

await app.listen({ port, host: '127.0.0.1' })
