import { createServer, type IncomingHttpHeaders } from 'node:http'
import { OpenAPIHandler } from '@orpc/openapi/node'
import { ORPCError, os } from '@orpc/server'
import { z } from 'zod'
import { createPet, getPet, isAuthorized, listPets, notFound, port, unauthorized } from './database.ts'
import { NewPet, Pet, PetId, PetQuery, Pets } from './schemas.ts'

/** oRPC's OpenAPI handler on `node:http`: zod validates and coerces the input and validates the output. */

const authorized = os.$context<{ headers: IncomingHttpHeaders }>().use(({ context, next }) => {
  if (!isAuthorized(context.headers.authorization)) throw new ORPCError(unauthorized.code, unauthorized)
  return next()
})

const router = {
  list: authorized
    .route({ method: 'GET', path: '/pets' })
    .input(PetQuery)
    .output(Pets)
    .handler(({ input }) => listPets(input)),
  create: authorized
    .route({ method: 'POST', path: '/pets', successStatus: 201, outputStructure: 'detailed' })
    .input(NewPet)
    .output(z.object({ headers: z.object({ location: z.string() }), body: Pet }))
    .handler(({ input }) => {
      const created = createPet(input)
      return { headers: { location: `/v1/pets/${created.id}` }, body: created }
    }),
  get: authorized
    .route({ method: 'GET', path: '/pets/{petId}' })
    .input(PetId)
    .output(Pet)
    .handler(({ input }) => {
      const found = getPet(input.petId)
      if (!found) throw new ORPCError(notFound.code, notFound)
      return found
    }),
}

const handler = new OpenAPIHandler(router)

const server = createServer(async (request, response) => {
  const { matched } = await handler.handle(request, response, { prefix: '/v1', context: { headers: request.headers } })
  if (!matched) response.writeHead(404).end()
})

server.listen(port, '127.0.0.1')
