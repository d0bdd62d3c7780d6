import { expect, test } from 'vitest'
import { z } from 'zod'
import { Text } from '../../engine/service/api/text.ts'
import { createDocument } from '../../engine/service/rest/document.ts'
import { mutation, query, router } from '../../server/trpc.ts'
import { consoleFolder } from '../support/built-console.ts'
import { addPets, product, startTestApi } from '../support/petstore.ts'

const Named = z.object({ name: Text }).meta({ id: 'Named' })
const Created = z.object({ id: z.string(), name: z.string() }).meta({ id: 'Created' })

const creates = (path: `/${string}`) =>
  mutation({ openapi: { method: 'POST', path }, idempotencyKey: 'ignored', creates: 'note' })
    .input(Named)
    .output(Created)
    .mutation(({ input }) => ({ id: '7', ...input }))
const createsInStore = mutation({
  openapi: { method: 'POST', path: '/stores/{store}/tags' },
  idempotencyKey: 'ignored',
  creates: 'tag',
})
  .input(Named.extend({ store: Text }).meta({ id: 'NamedInStore' }))
  .output(Created)
  .mutation(({ input }) => ({ id: '7', name: input.name }))
const reads = (path: `/${string}`, parameters: string[]) =>
  query({ openapi: { method: 'GET', path } })
    .input(z.object(Object.fromEntries(parameters.map((name) => [name, Text]))))
    .output(Created)
    .query(() => ({ id: '7', name: 'Rex' }))

const routes = router({
  createNote: creates('/notes'),
  readNewestNote: reads('/notes/newest', []),
  readPartOfNote: reads('/notes/{note}/parts/{part}', ['note', 'part']),
  createTag: creates('/tags'),
  readTag: reads('/tags/{tag}', ['tag']),
  createTagInStore: createsInStore,
  readTagInStore: reads('/stores/{name}/tags/{tag}', ['name', 'tag']),
  /** An action. */
  doSomething: mutation({ openapi: { method: 'POST', path: '/nothing' }, idempotencyKey: 'ignored' })
    .input(Named)
    .output(Created)
    .mutation(({ input }) => ({ id: '7', ...input })),
  readNothing: reads('/nothing/{id}', ['id']),
})

test('a create sends Location only if the resource can be read there', async () => {
  const { rest } = await startTestApi({ router: routes })
  const locations = Object.fromEntries(
    await Promise.all(
      ['/notes', '/tags', '/stores/a%2Fb/tags', '/nothing'].map(async (path) => {
        const { status, headers } = await rest.post(`/v1${path}`, { name: 'Rex' })
        expect(status).toBe(path === '/nothing' ? 200 : 201)
        return [path, headers.location]
      }),
    ),
  )
  expect(locations).toEqual({
    '/notes': undefined,
    '/nothing': undefined,
    '/tags': '/v1/tags/7',
    '/stores/a%2Fb/tags': '/v1/stores/a%2Fb/tags/7',
  })
  for (const url of ['/v1/tags/7', '/v1/stores/a%2Fb/tags/7']) expect((await rest.get(url)).status).toBe(200)
})

test('the document lists Location only for these creates', () => {
  const { paths = {} } = createDocument(routes, product, [])
  const listed = Object.entries(paths).filter(([, path]) => {
    const created = path.post?.responses?.['201']
    return created && 'headers' in created && created.headers && 'Location' in created.headers
  })
  expect(listed.map(([path]) => path)).toEqual(['/tags', '/stores/{store}/tags'])
})

test('the link to the next page has the parameters of the path in the path', async () => {
  const list = query({ openapi: { method: 'GET', path: '/stores/{store}/tags' } })
    .input(z.object({ store: Text, cursor: Text.optional(), limit: Text.default('1') }))
    .output(z.array(Created))
    .query(() => [{ id: '7', name: 'Rex' }])
  const { rest } = await startTestApi({ router: router({ list }) })
  const { headers } = await rest.get('/v1/stores/a%2Fb/tags?limit=1')
  expect(headers.link).toBe('</v1/stores/a%2Fb/tags?limit=1&cursor=7>; rel="next"')
})

test.for([
  { host: '127.0.0.1', address: 'http://127.0.0.1:PORT' },
  { host: '0.0.0.0', address: '' },
  { host: '127.0.0.1', trustProxy: ['127.0.0.1'], address: '' },
  { host: '0.0.0.0', publicUrl: 'https://shop.example/petstore', address: 'https://shop.example/petstore' },
])('links and the first server begin with the address if it is known: %o', async ({ host, address, ...config }) => {
  const { app, key, store } = await startTestApi({ config, consoleFolder })
  await addPets(store, 1)
  const { port } = new URL(await app.listen({ host, port: 0 }))
  const send = (path: string) =>
    fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization: `Bearer ${key}` } })
  const linksOf = async (path: string) => {
    const links = (await send(path)).headers.get('link') ?? ''
    return [...links.replaceAll(port, 'PORT').matchAll(/<([^>]*)>/g)].map(([, url]) => url)
  }
  expect(await linksOf('/v1/pets?limit=1')).toEqual([`${address}/v1/pets?limit=1&cursor=1`])
  expect(await linksOf('/v1/pets/1')).toEqual([`${address}/v1/pets`, `${address}/docs/`])
  const document = (await (await send('/openapi.json')).text()).replaceAll(port, 'PORT')
  expect(JSON.parse(document)).toMatchObject({ servers: [{ url: `${address}/v1` }] })
  expect((await send('/docs/')).status).toBe(200)
})
