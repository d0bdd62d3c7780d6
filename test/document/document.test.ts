import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { oas31 } from 'zod-openapi'
import { createDocument } from '../../engine/service/rest/document.ts'
import { operationsOf } from '../../engine/service/rest/operations.ts'
import { serversOf } from '../../engine/service/rest/reference.ts'
import { exactly } from '../../engine/test/support/exact-json.ts'
import { appRouter } from '../../server/router.ts'
import { mutation, query, router } from '../../server/trpc.ts'
import { operationsIn } from '../support/documented-requests.ts'
import { DocumentedSchemas } from '../support/documented-schemas.ts'
import { product, startTestApi } from '../support/petstore.ts'

test('the committed copy equals the served document (npm run openapi:update updates it)', async () => {
  const { app } = await startTestApi({ config: { publicUrl: 'http://127.0.0.1:3000' } })
  const document = (await app.inject('/openapi.json')).json()
  await expect(`${JSON.stringify(document, null, 2)}\n`).toMatchFileSnapshot('../../server/openapi.json')
})

const document = createDocument(appRouter, product, [])

describe('the document matches the specification:', () => {
  const { openapi, info, paths, components } = document
  const [list, create, get] = [paths?.['/pets']?.get, paths?.['/pets']?.post, paths?.['/pets/{petId}']?.get]
  const refTo = (schema: string) => ({ $ref: `#/components/schemas/${schema}` })
  const [text, int64, status] = [{ type: 'string' }, { type: 'integer', format: 'int64' }, refTo('PetStatus')]

  test('OpenAPI 3.1, and the version of the interface', () => {
    expect([openapi, info.version]).toEqual([expect.stringMatching(/^3\.1\./), '1.0.0'])
  })

  test('its operations, under its names, one of them deprecated', () => {
    expect([list, create, get]).toMatchObject([
      { operationId: 'listPets' },
      { operationId: 'createPet' },
      { operationId: 'getPet', deprecated: true },
    ])
    for (const operation of [list, create]) expect(operation).not.toHaveProperty('deprecated')
  })

  test('its parameters and bodies, and a cursor', () => {
    const limit = { type: 'integer', minimum: 1, maximum: 100, default: 20 }
    expect(list?.parameters).toMatchObject([
      { in: 'query', name: 'limit', schema: limit },
      { in: 'query', name: 'status', schema: status },
      { in: 'query', name: 'cursor', schema: int64 },
    ])
    expect(JSON.stringify(list?.parameters)).not.toContain('"required":true')
    expect(get?.parameters).toMatchObject([{ in: 'path', name: 'petId', required: true, schema: int64 }])
    const content = { 'application/json': { schema: refTo('NewPet') } }
    expect(create?.requestBody).toMatchObject({ required: true, content })
  })

  test('the schemas', () => {
    const pet = { name: text, categoryId: int64, status }
    const error = { code: text, message: text, status: { type: 'integer' } }
    expect(components?.schemas).toMatchObject({
      PetStatus: { type: 'string', enum: ['available', 'pending', 'sold'] },
      NewPet: { type: 'object', required: ['name', 'categoryId'], properties: pet },
      Pet: { type: 'object', required: ['id', 'name', 'categoryId', 'status'], properties: { id: int64, ...pet } },
      Error: { type: 'object', required: ['code', 'message', 'status'], properties: error },
    })
  })

  test('the statuses of its operations', () => {
    expect([list, create, get].map((operation) => Object.keys(operation?.responses ?? {}))).toEqual([
      ['200', '304', '400', '401', 'default'],
      ['201', '400', '401', '403', '422', 'default'],
      ['200', '401', '404', 'default'],
    ])
  })
})

const operations = operationsIn(document)

describe.for(operations)(
  '$method $path',
  ({ method, path, parameters, bodySchema, bodyExample, responses, deprecated }) => {
    test('has one success, 401 and a default, and each failure has an Error body', () => {
      const { 200: ok, 201: created, 304: unchanged, ...failures } = responses
      expect(unchanged?.content).toBeUndefined()
      expect(method === 'POST' ? [created, ok] : [ok, created]).toEqual([expect.anything(), undefined])
      expect(Object.keys(failures)).toEqual(expect.arrayContaining(['401', 'default']))
      for (const { content } of Object.values(failures))
        expect(content).toMatchObject({ 'application/json': { schema: { $ref: '#/components/schemas/Error' } } })
    })

    test('has a valid example of each required parameter and each body, and of each failure with its status', () => {
      const schemas = new DocumentedSchemas(document)
      const ofResponses = Object.entries(responses).map(([status, { content = {} }]) => {
        const body = content['application/json']
        if (/^[45]/.test(status)) expect(body?.example).toMatchObject({ status: Number(status) })
        return body
      })
      const body = bodySchema && { schema: bodySchema, example: bodyExample }
      for (const { schema = {}, example } of [
        ...parameters.filter(({ required, schema = {} }) => required || 'default' in schema),
        ...(body ? [body] : []),
        ...ofResponses.filter(isDefined),
      ]) {
        expect(example, JSON.stringify(schema)).toBeDefined()
        expect(schemas.findFault(schema, exactly(example))).toBeUndefined()
      }
    })

    // Importers such as those of Postman and Swagger UI send the examples of all parameters.
    test('has no example of what hides items, or repeats a request, in each copy', () => {
      for (const { name, required = false, schema = {}, example } of parameters) {
        const isUsual = required || 'default' in schema
        expect(isUsual || (example === undefined && !('examples' in schema)), name).toBe(true)
      }
    })

    test('describes the headers of a rate limit on each response, and Retry-After where it is sent', () => {
      for (const [status, { headers = {} }] of Object.entries(responses)) {
        expect(Object.keys(headers), status).toEqual(expect.arrayContaining(['RateLimit', 'RateLimit-Policy']))
        expect('Retry-After' in headers, status).toBe(status === 'default')
      }
    })

    test('requires a response header where every response with this status carries it', () => {
      const canBeRead = operations.some((other) => other.method === 'GET' && other.path.startsWith(`${path}/{`))
      for (const [status, { headers = {} }] of Object.entries(responses)) {
        const required = Object.keys(headers).filter((name) => Object(headers[name]).required)
        const expected = [
          ...(deprecated && status !== 'default' ? ['Deprecation', 'Sunset', 'Link'] : []),
          ...(status === '201' && canBeRead ? ['Location'] : []),
          ...(/200|304/.test(status) && '304' in responses ? ['ETag'] : []),
          ...(status === '401' ? ['WWW-Authenticate'] : []),
        ]
        expect(required, status).toEqual(expected)
      }
    })
  },
)

function isDefined<T>(value: T | undefined): value is T {
  return value !== undefined
}

test('each tag is described once', () => {
  expect(document.tags).toContainEqual({ name: 'pets', description: 'The pets of the store.' })
  const used = Object.values(document.paths ?? {}).flatMap((item) =>
    Object.values(item as Record<string, oas31.OperationObject>).map(({ tags }) => tags),
  )
  const described = document.tags?.map(({ name, description }) => [name, description])
  const names = new Set(used.flat())
  expect(described).toEqual([...names].map((name) => [name, expect.stringMatching(/./)]))
  for (const tags of used) expect(tags).toHaveLength(1)
})

test.for([
  [undefined, 'This server'],
  ['http://127.0.0.1:3000', 'This server'],
  ['http://127.9.9.9/petstore', 'This server'],
  ['http://localhost:3000', 'This server'],
  ['http://[::1]:3000', 'This server'],
  ['http://10.0.0.1', 'Production'],
  ['https://localhost.example', 'Production'],
] as const)('with the public address %s, the first server is called %s', ([publicUrl, description]) => {
  const servers = serversOf({ publicUrl, stagingUrl: 'https://staging.example' }, publicUrl ?? 'http://127.0.0.1:4000')
  expect(servers).toEqual([
    { url: `${publicUrl ?? 'http://127.0.0.1:4000'}/v1`, description },
    { url: 'https://staging.example/v1', description: 'Staging' },
  ])
})

test.for([
  ['inline', z.object({ parts: z.array(z.object({ grams: z.int() })) })],
  ['with a name', z.object({ parts: z.array(z.object({ grams: z.int() })) }).meta({ id: 'Scale' })],
] as const)('an object inside of an output may gain fields later: %s', ([, output]) => {
  const openapi = { method: 'GET', path: '/scale' } as const
  const read = query({ openapi })
    .output(output)
    .query(() => ({ parts: [] }))
  const document = JSON.stringify(createDocument(router({ read }), product, []))
  expect(document).toContain('"grams"')
  expect(document).not.toContain('additionalProperties')
})

test.for([
  ['a body', z.object, undefined],
  ['a body that allows no other fields', z.strictObject, false],
] as const)('the schema omits the parameters of the path: %s', ([, object, additionalProperties]) => {
  const input = object({ petId: z.bigint(), grams: z.int() }).meta({ id: 'Weight' })
  const openapi = { method: 'PUT', path: '/pets/{petId}/weight' } as const
  const weigh = mutation({ openapi, idempotencyKey: 'ignored' })
    .input(input)
    .output(z.object({}))
    .mutation(() => ({}))
  const { paths, components } = createDocument(router({ weigh }), product, [])
  expect(paths?.['/pets/{petId}/weight']?.put).toMatchObject({
    parameters: [{ in: 'path', name: 'petId' }],
    requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Weight' } } } },
  })
  const properties = { properties: { grams: {} }, required: ['grams'], additionalProperties }
  expect({ additionalProperties: undefined, ...components?.schemas?.Weight }).toMatchObject(properties)
  expect(components?.schemas?.Weight).not.toHaveProperty('properties.petId')
})

describe('a mistake in a procedure stops the start:', () => {
  const nothing = z.object({})
  const empty = () => ({})
  const [get, post] = [{ method: 'GET', path: '/x' } as const, { method: 'POST', path: '/x' } as const]
  const [read, add] = [query({ openapi: get }), mutation({ openapi: post, idempotencyKey: 'ignored' })]
  const list = z.array(z.string())

  test.for([
    ['no output', read.input(nothing).query(empty), 'x cannot be served as REST: it needs an output'],
    ['a subscription', read.output(z.any()).subscription(async function* () {}), 'must not be a subscription'],
    ['an input that is no object', read.input(list).output(nothing).query(empty), 'must be an object'],
    ['two inputs', read.input(nothing).input(nothing).output(nothing).query(empty), 'needs one input'],
    ['a query that is not GET', query({ openapi: post }).output(nothing).query(empty), 'a query needs the method GET'],
    [
      'a mutation by GET',
      mutation({ openapi: get, idempotencyKey: 'ignored' }).output(nothing).mutation(empty),
      'a query needs the method GET',
    ],
    [
      'a body without a name',
      add
        .input(z.object({ y: z.string() }))
        .output(nothing)
        .mutation(empty),
      'x cannot be served as REST: its body needs a name.',
    ],
    [
      'a parameter of the path that the input lacks',
      query({ openapi: { method: 'GET', path: '/x/{y}' } })
        .input(nothing)
        .output(nothing)
        .query(empty),
      'x cannot be served as REST: its input lacks y, which is in the path.',
    ],
  ] as const)('%s', ([, x, message]) => {
    expect(() => operationsOf(router({ x } as Parameters<typeof router>[0]))).toThrow(message)
  })
})
