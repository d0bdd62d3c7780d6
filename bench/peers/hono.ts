import { serve } from '@hono/node-server'
import { createRoute, OpenAPIHono } from '@hono/zod-openapi'
import { HTTPException } from 'hono/http-exception'
import { createPet, getPet, invalid, isAuthorized, listPets, notFound, port, unauthorized } from './database.ts'
import { Failure, NewPet, Pet, PetId, PetQuery, Pets } from './schemas.ts'

/** Hono with @hono/zod-openapi on @hono/node-server: zod validates the input; Hono does not validate the output. */

const listRoute = createRoute({
  method: 'get',
  path: '/v1/pets',
  request: { query: PetQuery },
  responses: { 200: { description: 'The pets.', content: { 'application/json': { schema: Pets } } } },
})

const createPetRoute = createRoute({
  method: 'post',
  path: '/v1/pets',
  request: { body: { content: { 'application/json': { schema: NewPet } }, required: true } },
  responses: { 201: { description: 'The pet.', content: { 'application/json': { schema: Pet } } } },
})

const getRoute = createRoute({
  method: 'get',
  path: '/v1/pets/{petId}',
  request: { params: PetId },
  responses: {
    200: { description: 'The pet.', content: { 'application/json': { schema: Pet } } },
    404: { description: 'No such pet.', content: { 'application/json': { schema: Failure } } },
  },
})

const app = new OpenAPIHono({
  defaultHook: (result, c) => (result.success ? undefined : c.json(invalid, 400)),
})

app.use(async (c, next) => (isAuthorized(c.req.header('authorization')) ? next() : c.json(unauthorized, 401)))

app.openapi(listRoute, (c) => c.json(listPets(c.req.valid('query')), 200))

app.openapi(createPetRoute, (c) => {
  const created = createPet(c.req.valid('json'))
  return c.json(created, 201, { location: `/v1/pets/${created.id}` })
})

app.openapi(getRoute, (c) => {
  const found = getPet(c.req.valid('param').petId)
  return found ? c.json(found, 200) : c.json(notFound, 404)
})

app.onError((error, c) => {
  if (error instanceof HTTPException && error.status === 400) return c.json(invalid, 400)
  throw error
})

serve({ fetch: app.fetch, port, hostname: '127.0.0.1' })
