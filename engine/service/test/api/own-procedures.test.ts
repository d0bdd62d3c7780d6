import { expect, test } from 'vitest'
import { z } from 'zod'
import { shareTestApi, startTestApi } from '../../../test/notes/fixtures.ts'
import { mutation, query, router } from '../../../test/notes/trpc.ts'
import { consoleFolder as makeConsole } from '../../../test/support/console-folder.ts'
import { updateInput } from '../../api/change.ts'
import { Int64 } from '../../api/int64.ts'
import { listInput, searchInput } from '../../api/page.ts'
import type { Deprecation } from '../../procedures/trpc.ts'

const deprecation: Deprecation = {
  since: new Date('2026-11-20T00:00:00Z'),
  sunset: new Date('2030-12-05T00:00:00Z'),
  successor: '/notes',
  replacement: '`GET /notes`',
}
const Counted = z.object({ id: Int64 })
const size = Int64.prefault(7n)
/** A deprecated list, and another operation at its path. */
const counts = router({
  list: query({ openapi: { method: 'GET', path: '/counts', deprecated: true }, deprecation })
    .input(listInput('count', 'counts', { from: Int64.optional() }))
    .output(z.array(Counted))
    .query(({ input: { cursor = 0n, limit } }) =>
      Array.from({ length: limit }, (_, i) => ({ id: cursor + BigInt(i) })),
    ),
  add: query({ openapi: { method: 'GET', path: '/counts/{id}' } })
    .input(z.object({ id: Int64, size }))
    .output(Counted)
    .query(({ input: { id, size } }) => ({ id: id + size })),
  update: mutation({ openapi: { method: 'PATCH', path: '/counts/{id}' }, idempotencyKey: 'ignored' })
    .input(updateInput({ id: Int64 }, { size: Int64 }).meta({ id: 'UpdateCount' }))
    .output(Counted)
    .mutation(({ input: { id } }) => ({ id })),
  remove: mutation({ openapi: { method: 'DELETE', path: '/counts/{id}' }, idempotencyKey: 'ignored' })
    .input(z.strictObject({ id: Int64 }))
    .output(Counted)
    .mutation(({ input: { id } }) => ({ id })),
})
/** What libraries throw that call another service. */
const failures: Record<string, object> = { status: { statusCode: 404 }, reset: { code: 'ECONNRESET' } }
const failing = router({
  ask: query({ openapi: { method: 'GET', path: '/failing/{failure}' } })
    .input(z.object({ failure: z.enum(['status', 'reset']) }))
    .output(Counted)
    .query(({ input: { failure } }) => {
      throw Object.assign(new Error('Another service failed.'), failures[failure])
    }),
})
const api = shareTestApi({ router: router({ counts, failing }) })

test.for(Object.keys(failures))('an error with the %s of another service is a 500 in both APIs', async (failure) => {
  const { app, rest, key } = api()
  const expected = { status: 500, body: { code: 'internal_error' } }
  expect(await rest.get(`/v1/failing/${failure}`)).toMatchObject(expected)
  const url = `/trpc/failing.ask?input=${encodeURIComponent(JSON.stringify({ json: { failure } }))}`
  const { statusCode } = await app.inject({ url, headers: { authorization: `Bearer ${key}` } })
  expect(statusCode).toBe(500)
})

test.for([
  ['the document', undefined, '</openapi.json>; rel="deprecation"; type="application/json"'],
  ['its pages, where they are built', makeConsole, '</docs/>; rel="deprecation"; type="text/html"'],
] as const)(
  'a page of a deprecated list links to the next one, the successor and %s',
  async ([, consoleFolder, link]) => {
    const { rest } = await startTestApi({ router: router({ counts }), ...(consoleFolder && { consoleFolder }) })
    const { headers } = await rest.get('/v1/counts?limit=2')
    expect(headers.link).toBe(
      `</v1/counts?limit=2&cursor=1>; rel="next", </v1/notes>; rel="successor-version", ${link}`,
    )
  },
)

test.for([
  ['union', z.union([Int64, z.boolean()])],
  ['union', z.union([z.object({ from: Int64 }), z.boolean()])],
  ['record', z.record(z.enum(['from']), z.date())],
  ['record', z.record(z.enum(['from']), z.object({ size: Int64 }))],
  ['tuple', z.tuple([z.boolean(), Int64])],
  ['pipe', Int64.transform(String)],
] as const)('a body with integers or times in a %s is refused at the start', async ([type, size]) => {
  const create = mutation({ openapi: { method: 'POST', path: '/sizes' }, idempotencyKey: 'ignored' })
    .input(z.object({ size }).meta({ id: 'Size' }))
    .output(Counted)
    .mutation(() => ({ id: 1n }))
  await expect(startTestApi({ router: router({ sizes: router({ create }) }) })).rejects.toThrow(
    `The field size cannot be served as REST, because it is a ${type} with integers or times`,
  )
})

test('a body that may contain itself, and a page without a default size, are refused at the start with their names', async () => {
  const Tree = z
    .object({
      size: Int64,
      get parts() {
        return z.array(Tree).optional()
      },
    })
    .meta({ id: 'Tree' })
  const grow = mutation({ openapi: { method: 'POST', path: '/trees' }, idempotencyKey: 'ignored' })
    .input(Tree)
    .output(Counted)
    .mutation(() => ({ id: 1n }))
  await expect(startTestApi({ router: router({ trees: router({ grow }) }) })).rejects.toThrow(
    'The field parts cannot be served as REST, because it may contain itself.',
  )
  const list = query({ openapi: { method: 'GET', path: '/trees' } })
    .input(z.object({ cursor: Int64.optional(), limit: z.int() }))
    .output(z.array(Counted))
    .query(() => [])
  await expect(startTestApi({ router: router({ trees: router({ list }) }) })).rejects.toThrow(
    'trees.list cannot be served as REST: its limit needs a default.',
  )
})

test('a full page whose items have no id has no link to the next one', async () => {
  const list = query({ openapi: { method: 'GET', path: '/sizes' } })
    .input(z.object({ cursor: Int64.optional(), limit: z.int().default(1) }))
    .output(z.array(z.object({ size: Int64 })))
    .query(() => [{ size: 1n }])
  const { rest } = await startTestApi({ router: router({ sizes: router({ list }) }) })
  const { status, headers } = await rest.get('/v1/sizes')
  expect([status, headers.link]).toEqual([200, undefined])
})

test('a parameter may have a default that its schema checks', async () => {
  const idOf = async (url: string) => Object((await api().rest.get(url)).body).id
  expect([await idOf('/v1/counts/1'), await idOf('/v1/counts/1?size=5')]).toEqual([8, 6])
})

test('a field of the path is refused elsewhere, because it could name another row', async () => {
  const { rest } = api()
  const patch = { method: 'PATCH', headers: { 'content-type': 'application/json' } } as const
  const change = (more: string) => rest.send({ ...patch, url: '/v1/counts/1', payload: `{"size":1${more}}` })
  expect(await change('')).toMatchObject({ status: 200, body: { id: 1 } })
  const refused = { status: 400, body: { code: 'invalid_request', message: 'id: expected only in the path' } }
  expect(await change(',"id":2')).toMatchObject(refused)
  expect(await rest.send({ method: 'DELETE', url: '/v1/counts/1?id=2' })).toMatchObject(refused)
})

test.for(['limit', 'cursor'])('a list cannot have a filter with the name %s', (name) => {
  expect(() => listInput('count', 'counts', { [name]: Int64.optional() })).toThrow(
    `Rename the field ${name}: the input has one of its own with this name.`,
  )
})

test.for(['limit', 'id', 'order', 'cursor'])('a search cannot have a field with the name %s', (name) => {
  expect(() => searchInput('count', 'counts', { [name]: Int64.optional() })).toThrow(`Rename the field ${name}`)
})

test('a resolver that mutates twice fails, also without a key, because a retry could not tell the mutations apart', async () => {
  const Two = z.object({ priority: Int64 }).meta({ id: 'Two' })
  const twice = mutation({ idempotencyKey: 'replays', openapi: { method: 'POST', path: '/twice' } })
    .input(Two)
    .output(z.array(Int64))
    .mutation(async ({ ctx, input }) => {
      const add = () => ctx.store.notes.create({ ...input, body: 'Ann', state: 'open' }, ctx.caller)
      return [(await add()).id, (await add()).id]
    })
  const { rest, store } = await startTestApi({ router: router({ twice }) })
  const send = (headers = {}) => rest.post('/v1/twice', { priority: 1 }, headers)
  for (const headers of [{}, { 'idempotency-key': 'a' }]) expect((await send(headers)).status).toBe(500)
  expect(await store.notes.list({ limit: 9 })).toHaveLength(2)
})
