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

/** Fastify 5, written by hand: JSON Schema validates the input and compiles the serializers. */

const status = { type: 'string', enum: ['available', 'pending', 'sold'] }
const newPet = {
  name: { type: 'string', minLength: 1, maxLength: 255 },
  categoryId: { type: 'integer' },
}
const pet = {
  type: 'object',
  properties: { id: { type: 'integer' }, ...newPet, status },
  required: ['id', 'name', 'categoryId', 'status'],
}

const app = fastify()

app.addHook('onRequest', (request, reply, done) => {
  if (isAuthorized(request.headers.authorization)) done()
  else reply.code(401).send(unauthorized)
})

app.get<{ Querystring: PetQuery }>('/v1/pets', {
  schema: {
    querystring: {
      type: 'object',
      properties: { limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 }, status },
    },
    response: { 200: { type: 'array', items: pet } },
  },
  handler: (request, reply) => {
    reply.send(listPets(request.query))
  },
})

app.post<{ Body: NewPet }>('/v1/pets', {
  schema: {
    body: {
      type: 'object',
      properties: { ...newPet, status: { ...status, default: 'available' } },
      required: ['name', 'categoryId'],
    },
    response: { 201: pet },
  },
  handler: (request, reply) => {
    const created = createPet(request.body)
    reply.code(201).header('location', `/v1/pets/${created.id}`).send(created)
  },
})

app.get<{ Params: { petId: number } }>('/v1/pets/:petId', {
  schema: {
    params: { type: 'object', properties: { petId: { type: 'integer' } } },
    response: { 200: pet },
  },
  handler: (request, reply) => {
    const found = getPet(request.params.petId)
    if (found) reply.send(found)
    else reply.code(404).send(notFound)
  },
})

await app.listen({ port, host: '127.0.0.1' })
