import { initTRPC, TRPCError } from '@trpc/server'
import { fastify } from 'fastify'
import { fastifyTRPCOpenApiPlugin, type OpenApiMeta } from 'trpc-to-openapi'
import { createPet, getPet, isAuthorized, listPets, notFound, port, unauthorized } from './database.ts'
import { NewPet, Pet, PetId, PetQuery, Pets } from './schemas.ts'

/** A tRPC 11 router that trpc-to-openapi serves on Fastify 5: zod validates the input and the output. */

const t = initTRPC.meta<OpenApiMeta>().create()

const router = t.router({
  list: t.procedure
    .meta({ openapi: { method: 'GET', path: '/pets' } })
    .input(PetQuery)
    .output(Pets)
    .query(({ input }) => listPets(input)),
  create: t.procedure
    .meta({ openapi: { method: 'POST', path: '/pets' } })
    .input(NewPet)
    .output(Pet)
    .mutation(({ input }) => createPet(input)),
  get: t.procedure
    .meta({ openapi: { method: 'GET', path: '/pets/{petId}' } })
    .input(PetId)
    .output(Pet)
    .query(({ input }) => {
      const found = getPet(input.petId)
      if (!found) throw new TRPCError({ code: 'NOT_FOUND', message: notFound.message })
      return found
    }),
})

const app = fastify()

app.addHook('onRequest', (request, reply, done) => {
  if (isAuthorized(request.headers.authorization)) done()
  else reply.code(401).send(unauthorized)
})

await app.register(fastifyTRPCOpenApiPlugin, { router, basePath: '/v1' })

await app.listen({ port, host: '127.0.0.1' })
