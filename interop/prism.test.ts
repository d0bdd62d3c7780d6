import { expect, onTestFinished, test } from 'vitest'
import type { RestRequest, Send } from '../engine/test/support/rest-client.ts'
import openapi from '../server/openapi.json' with { type: 'json' }
import { listen, startTestApi } from '../test/support/petstore.ts'
import { startPrism } from './prism/proxy.ts'
import { sendThroughPrism } from './prism/send.ts'

const rex = { name: 'Rex', categoryId: 7 }

/** Starts a service with one pet behind a Prism with a changed document. The function sends the API key by default. */
async function startWith(change: (document: typeof openapi) => void): Promise<Send> {
  const api = await startTestApi()
  await api.rest.post('/v1/pets', rex)
  const { url, key } = await listen(api)
  const document = structuredClone(openapi)
  change(document)
  const prism = await startPrism(document, `${url}/v1`, onTestFinished)
  return ({ headers, ...request }) =>
    sendThroughPrism(prism, { ...request, headers: { authorization: `Bearer ${key}`, ...headers } })
}

const list: RestRequest = { url: '/pets' }
const create: RestRequest = {
  method: 'POST',
  url: '/pets',
  headers: { 'content-type': 'application/json' },
  payload: JSON.stringify(rex),
}
const refused: RestRequest = { url: '/pets?limit=101' }

test('Prism reports no violation of the real document', async () => {
  const send = await startWith(() => {})
  expect(await send(list)).toMatchObject({ status: 200 })
  expect(await send(create)).toMatchObject({ status: 201 })
  expect(await send(refused)).toMatchObject({ status: 400 })
  for (const operation of [list, create, { url: '/pets/1' }])
    expect(await send({ ...operation, headers: { ...operation.headers, authorization: '' } })).toMatchObject({
      status: 401,
    })
})

test.for<[what: string, change: (document: typeof openapi) => void, request: Parameters<Send>[0], message: string]>([
  [
    'a value that the enum does not list',
    ({ components }) => (components.schemas.PetStatus.enum = ['sold']),
    list,
    'GET /pets: 200. Response body property 0.status must be equal to one of the allowed values: sold',
  ],
  [
    'a missing field',
    ({ components }) => components.schemas.Pet.required.push('owner'),
    list,
    "GET /pets: 200. Response body property 0 must have required property 'owner'",
  ],
  [
    'a field of the wrong type',
    ({ components }) => (components.schemas.Error.properties.message.type = 'integer'),
    refused,
    'GET /pets?limit=101: 400. Response body property message must be integer',
  ],
  [
    'a header that does not match its pattern',
    ({ paths }) => Object.assign(paths['/pets'].post.responses[201].headers.Location.schema, { pattern: '^https:' }),
    create,
    'POST /pets: 201. Response header parameter location must match pattern "^https:"',
  ],
  [
    'a wrong media type',
    ({ paths }) => Object.assign(paths['/pets'].get.responses[200], { content: { 'text/csv': {} } }),
    list,
    'GET /pets: 200. The received media type "application/json; charset=utf-8" does not match',
  ],
  [
    'an undocumented status',
    ({ paths }) => Object.assign(paths['/pets'].post, { responses: { 200: { description: '' } } }),
    create,
    'POST /pets: 201. Unable to match the returned status code with those defined in the document: 200',
  ],
  [
    'an invalid request that the service accepts',
    ({ components }) => (components.schemas.NewPet.properties.name.maxLength = 2),
    create,
    'POST /pets: 201. Request body property name must NOT have more than 2 characters',
  ],
  [
    'an undocumented operation',
    ({ paths }) => Reflect.deleteProperty(paths['/pets'], 'get'),
    list,
    'GET /pets: 200. Selected route not found',
  ],
])('Prism reports %s', async ([, change, request, message]) => {
  const send = await startWith(change)
  await expect(send(request)).rejects.toThrow(message)
})

test('a response by Prism itself is an error', async () => {
  const prism = await startPrism(openapi, 'http://127.0.0.1:1/v1', onTestFinished)
  await expect(sendThroughPrism(prism, list)).rejects.toThrow('GET /pets: 500, by Prism itself')
})
