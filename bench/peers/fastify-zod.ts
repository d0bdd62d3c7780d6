import { fastify } from 'fastify'
import { serializerCompiler, validatorCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod'
import { createPet, getPet, isAuthorized, listPets, notFound, port, unauthorized } from './database.ts'
import { Failure, NewPet, Pet, PetId, PetQuery, Pets } from './schemas.ts'

/** Fastify 5 with fastify-type-provider-zod: zod validates the input and encodes the output. */

const app = fastify().withTypeProvider<ZodTypeProvider>()
app.setValidatorCompiler(validatorCompiler)
app.setSerializerCompiler(serializerCompiler)

app.addHook('onRequest', (request, reply, done) => {
  if (isAuthorized(request.headers.authorization)) done()
  else reply.code(401).send(unauthorized)
})

app.get('/v1/pets', {
  schema: { querystring: PetQuery, response: { 200: Pets } },
  handler: (request, reply) => {
    reply.send(listPets(request.query))
  },
})

app.post('/v1/pets', {
  schema: { body: NewPet, response: { 201: Pet } },
  handler: (request, reply) => {
    const created = createPet(request.body)
    reply.code(201).header('location', `/v1/pets/${created.id}`).send(created)
  },
})

app.get('/v1/pets/:petId', {
  schema: { params: PetId, response: { 200: Pet, 404: Failure } },
  handler: (request, reply) => {
    const found = getPet(request.params.petId)
    if (found) reply.send(found)
    else reply.code(404).send(notFound)
  },
})

await app.listen({ port, host: '127.0.0.1' })
