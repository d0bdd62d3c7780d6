import { beforeAll, describe, expect, test } from 'vitest'
import { exchange } from '../../engine/test/support/raw-http.ts'
import { addPets, listen, shareTestApi, startTestApi } from '../support/petstore.ts'

/** Conditional requests (RFC 9110, section 13). */

const input = encodeURIComponent('{"0":{"json":{"limit":1}}}')
const urls: [what: string, url: string, cacheControl: string][] = [
  ['a list', '/v1/pets?limit=1', 'private, no-cache'],
  ['the last page', '/v1/pets?cursor=1', 'private, no-cache'],
  ['an RPC query', '/trpc/pets.list', 'private, no-cache'],
  ['an RPC query without an input', '/trpc/pets.counts', 'private, no-cache'],
  ['an RPC batch', `/trpc/pets.list,pets.counts?batch=1&input=${input}`, 'private, no-cache'],
  ['the OpenAPI document', '/openapi.json', 'no-cache'],
]

/** Headers that differ between any two responses. */
const changing = { date: '', ratelimit: '', 'x-request-id': '' }

const api = shareTestApi({ config: { rateLimit: { requests: 1_000, seconds: 60 } } })
beforeAll(() => addPets(api().store, 2))

test.for(urls)('%s has a weak tag, with which GET and HEAD get 304 without a body', async ([, url, cacheControl]) => {
  const { rest } = api()
  const { status, headers } = await rest.get(url)
  const { etag = '' } = headers
  expect([status, headers['cache-control']]).toEqual([200, cacheControl])
  expect(etag).toMatch(/^W\/"[\w-]{27}"$/)
  expect((await rest.send({ method: 'HEAD', url })).headers.etag).toBe(etag)
  for (const known of [etag, etag.replace('W/', ''), `"other", ${etag}`, '*']) {
    for (const method of ['GET', 'HEAD'] as const) {
      const response = await rest.send({ method, url, headers: { 'if-none-match': known } })
      expect([response.status, response.text], `${method} with ${known}`).toEqual([304, ''])
      const { 'content-type': _, 'content-length': __, ...kept } = headers
      expect({ ...response.headers, ...changing }).toEqual({ ...kept, ...changing })
    }
  }
  expect((await rest.get(url, { 'if-none-match': '"other"' })).status).toBe(200)
})

test('a connection can be used after a 304, also one to HEAD', async () => {
  const { url, authorization, rest } = await listen(api())
  const { etag } = (await rest.get('/v1/pets')).headers
  const request = `/v1/pets HTTP/1.1\r\nHost: a\r\n${authorization}If-None-Match: ${etag}\r\n`
  const responses = await exchange(url, `HEAD ${request}\r\nGET ${request}\r\nGET ${request}Connection: close\r\n\r\n`)
  expect(responses.map(({ status }) => status)).toEqual([304, 304, 304])
  for (const { headers } of responses) expect(headers.has('content-length')).toBe(false)
})

test('a 304 needs a valid key and a valid input, and counts for the rate limit', async () => {
  const { rest } = await startTestApi({ config: { rateLimit: { requests: 3, seconds: 60 } } })
  const any = { 'if-none-match': '*' }
  expect((await rest.get('/v1/pets', { ...any, authorization: '' })).status).toBe(401)
  expect((await rest.get('/v1/pets?limit=0', any)).status).toBe(400)
  const answers = [await rest.get('/v1/pets', any), await rest.get('/v1/pets', any), await rest.get('/v1/pets', any)]
  expect(answers.map(({ status, headers }) => [status, headers.ratelimit?.split(';')[1]])).toEqual([
    [304, 'r=1'],
    [304, 'r=0'],
    [429, 'r=0'],
  ])
})

describe('there is no tag', () => {
  const badInput = encodeURIComponent('{"0":{"json":{"limit":0}}}')
  test.for([
    ['a query that does not opt in', '/v1/pets/1', 200],
    ['an RPC query that does not opt in', `/trpc/pets.get?input=${encodeURIComponent('{"json":{"petId":1}}')}`, 400],
    ['a batch with such a query', '/trpc/pets.list,pets.get?batch=1', 207],
    ['a batch with an invalid input', `/trpc/pets.list,pets.counts?batch=1&input=${badInput}`, 207],
    ['an invalid input', '/v1/pets?limit=0', 400],
    ['an invalid input of RPC', '/trpc/pets.list?input=%7B%7D', 400],
    ['an unknown path', '/v1/nowhere', 404],
  ] as const)('on %s', async ([, url, status]) => {
    const response = await api().rest.get(url, { 'if-none-match': '*' })
    expect([response.status, response.headers['cache-control']]).toEqual([status, 'no-store'])
    expect(response.headers).not.toHaveProperty('etag')
  })

  test('on a create, which ignores If-None-Match', async () => {
    const { rest } = await startTestApi()
    const created = await rest.post('/v1/pets', { name: 'Rex', categoryId: 7 }, { 'if-none-match': '*' })
    expect(created).toMatchObject({ status: 201, headers: { 'cache-control': 'no-store' } })
    expect(created.headers).not.toHaveProperty('etag')
  })

  test('on a streamed response', async () => {
    const { url, key } = await listen(api())
    const headers = { authorization: `Bearer ${key}`, 'trpc-accept': 'application/jsonl', 'if-none-match': '*' }
    const response = await fetch(`${url}/trpc/pets.list?batch=1`, { headers })
    expect([response.status, response.headers.get('etag')]).toEqual([200, null])
    expect(await response.text()).toContain('pet 1')
  })
})
