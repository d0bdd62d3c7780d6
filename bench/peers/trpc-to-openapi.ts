import { initTRPC, TRPCError } from '@trpc/server'
import { fastify } from 'fastify'
import { fastifyTRPCOpenApiPlugin, type OpenApiMeta } from 'trpc-to-openapi'
import { z } from 'zod'
import { createPet, failures, getPet, isAuthorized, listPets, port } from './database.ts'

/** A tRPC 11 router that trpc-to-openapi serves on Fastify 5: zod validates the input and the output. */

const status = z.enum(['available', 'pending', 'sold'])
const PetQuery = z.object({
  limit: z.coerce.number().int().min(1).max(100).default(20),
  cursor: z.coerce.number().int().min(0).default(0),
})
const NewPet = z.object({
  name: z.string().min(1).max(255),
  categoryId: z.int(),
  status: status.default('available'),
})
const Pet = z.object({ id: z.int(), ...NewPet.shape, status })

const t = initTRPC.meta<OpenApiMeta>().create()

const router = t.router({
  list: t.procedure
    .meta({ openapi: { method: 'GET', path: '/pets' } })
    .input(PetQuery)
    .output(z.array(Pet))
    .query(({ input }) => listPets(input)),
  create: t.procedure
    .meta({ openapi: { method: 'POST', path: '/pets' } })
    .input(NewPet)
    .output(Pet)
    .mutation(({ input }) => createPet(input)),
  get: t.procedure
    .meta({ openapi: { method: 'GET', path: '/pets/{petId}' } })
    .input(z.object({ petId: z.coerce.number().int() }))
    .output(Pet)
    .query(({ input }) => {
      const found = getPet(input.petId)
      if (!found) throw new TRPCError({ code: 'NOT_FOUND', message: failures[404].message })
      return found
    }),
})

const app = fastify()

app.addHook('onRequest', (request, reply, done) => {
  if (isAuthorized(request.headers.authorization)) done()
  else reply.code(401).send(failures[401])
})

await app.register(fastifyTRPCOpenApiPlugin, { router, basePath: '/v1' })

await app.listen({ port, host: '127.0.0.1' })
