import { expect, test } from 'vitest'
import { z } from 'zod'
import { apiKeyRecord, mintApiKey, product, startTestApi } from '../../../test/notes/fixtures.ts'
import { query, router } from '../../../test/notes/trpc.ts'
import { Int64 } from '../../api/int64.ts'
import { proceduresOf } from '../../procedures/procedures.ts'
import { createDocument } from '../../rest/document.ts'

test.for(['direct', 'chained'])('a %s query with `access: write` refuses a key that may only read', async (name) => {
  const routes = router({
    direct: query({ access: 'write' }).query(() => 'names'),
    chained: query()
      .use(({ next }) => next())
      .meta({ access: 'write' })
      .query(() => 'names'),
  })
  expect(proceduresOf(routes).find((each) => each.name === name)?.isDirect).toBe(name === 'direct')
  const { app, store, key } = await startTestApi({ router: routes })
  const viewer = mintApiKey()
  await store.apiKeys.create(apiKeyRecord(viewer, 'viewer', undefined, 'read'))
  const statusOf = async (key: string) =>
    (await app.inject({ url: `/trpc/${name}`, headers: { authorization: `Bearer ${key}` } })).statusCode
  expect([await statusOf(viewer), await statusOf(key)]).toEqual([403, 200])
})

test('the document of a query with `access: write` has the status 403, and a link only if it returns items with ids', () => {
  const pages = z.object({ cursor: Int64.optional(), limit: z.int().default(20) })
  const queryOf = (path: `/${string}`, output: z.ZodType) =>
    query({ access: 'write', openapi: { method: 'GET', path } })
      .input(pages)
      .output(output)
      .query(() => [])
  const routes = router({
    list: queryOf('/list', z.array(z.object({ id: Int64 }))),
    words: queryOf('/words', z.array(z.string())),
    found: queryOf('/found', z.object({})),
  })
  const { paths } = createDocument(routes, product, [])
  const responses = ['/list', '/words', '/found'].map((path) => paths?.[path]?.get?.responses)
  expect(responses).toMatchObject(Array(3).fill({ 403: { description: 'The API key may only read.' } }))
  expect(responses.map((each) => /"Link"/.test(JSON.stringify(each)))).toEqual([true, false, false])
})
