import { fastify } from 'fastify'
import type { NewPet, Pet, PetQuery } from './database.ts'
import { createPet, failures, getPet, isAuthorized, listPets, port } from './database.ts'

/**
 * Fastify by hand: JSON Schemas validate the input and serialize the output. With the argument `group-commit`, creates
 * share commits on a thread.
 */

const status = { type: 'string', enum: ['available', 'pending', 'sold'] }
const fields = { name: { type: 'string', minLength: 1, maxLength: 255 }, categoryId: { type: 'integer' } }
const petQuery = {
  type: 'object',
  properties: {
    limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
    cursor: { type: 'integer', minimum: 0, default: 0 },
  },
}
const petId = { type: 'object', properties: { petId: { type: 'integer' } } }
const newPet = {
  type: 'object',
  properties: { ...fields, status: { ...status, default: 'available' } },
  required: ['name', 'categoryId'],
}
const pet = {
  type: 'object',
  properties: { id: { type: 'integer' }, ...fields, status },
  required: ['id', 'name', 'categoryId', 'status'],
}

type Create = (pet: NewPet, done: (created: Pet) => void) => void
const create: Create = process.argv.includes('group-commit')
  ? (await import('./group-commit.ts')).createInGroup
  : (input, done) => done(createPet(input))

const app = fastify()

app.addHook('onRequest', (request, reply, done) => {
  if (isAuthorized(request.headers.authorization)) done()
  else reply.code(401).send(failures[401])
})

app.get<{ Querystring: PetQuery }>('/v1/pets', {
  schema: { querystring: petQuery, response: { 200: { type: 'array', items: pet } } },
  handler: (request, reply) => {
    reply.send(listPets(request.query))
  },
})

app.post<{ Body: NewPet }>('/v1/pets', {
  schema: { body: newPet, response: { 201: pet } },
  handler: (request, reply) => {
    create(request.body, (created) => reply.code(201).header('location', `/v1/pets/${created.id}`).send(created))
  },
})

app.get<{ Params: { petId: number } }>('/v1/pets/:petId', {
  schema: { params: petId, response: { 200: pet } },
  handler: (request, reply) => {
    const found = getPet(request.params.petId)
    if (found) reply.send(found)
    else reply.code(404).send(failures[404])
  },
})

await app.listen({ port, host: '127.0.0.1' })
