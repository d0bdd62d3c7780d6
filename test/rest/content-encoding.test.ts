import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { beforeAll, describe, expect, test } from 'vitest'
import { addPets, listen, shareTestApi, startTestApi, type TestApi } from '../support/petstore.ts'

/** Compressed responses (RFC 9110, section 12.5.3). */

const decoders = { br: brotliDecompressSync, gzip: gunzipSync }
const batch = encodeURIComponent('{"0":{"json":{"limit":100}}}')
/** Each is requested with a parameter that makes its URL unique, so each test begins without a cached response. */
const urls = {
  'a list': '/v1/pets?limit=100',
  'the last page': '/v1/pets?limit=100&cursor=20&status=available',
  'an RPC query': `/trpc/pets.list?input=${encodeURIComponent('{"json":{"limit":100}}')}`,
  'an RPC search': `/trpc/pets.search?input=${encodeURIComponent('{"json":{"name":"pet","limit":100}}')}`,
  'an RPC batch': `/trpc/pets.list,pets.counts?batch=1&input=${batch}`,
  'the OpenAPI document': '/openapi.json?',
} as const
const cases = Object.keys(urls).flatMap((what) =>
  (['br', 'gzip'] as const).map((encoding) => [what as keyof typeof urls, encoding] as const),
)

const api = shareTestApi({ config: { corsOrigins: ['https://shop.example'] } })
beforeAll(() => addPets(api().store, 120))

test.for(cases)(
  '%s in %s is that without a coding, also from the cache, and HEAD and 304 fit',
  async ([what, encoding]) => {
    const url = urlOf(what)
    const plain = await send(api(), url)
    expect(plain.headers).not.toHaveProperty('content-encoding')
    expect(plain.body.length).toBeGreaterThan(4_096)
    expect(varyOf(plain)).toEqual(['accept-encoding', 'origin'])
    // The first response is not cached, the second one is put into the cache, and the third one is from there.
    for (let i = 0; i < 3; i++) {
      const headers = { 'accept-encoding': encoding }
      const [get, head] = [await send(api(), url, headers), await send(api(), url, headers, 'HEAD')]
      expect(get.body.length).toBeLessThan(plain.body.length / 2)
      expect(decoders[encoding](get.body).equals(plain.body)).toBe(true)
      const expected = { ...plain.headers, 'content-encoding': encoding, 'content-length': `${get.body.length}` }
      expect({ ...get.headers, ...changing }).toEqual({ ...expected, ...changing })
      expect([head.status, head.body.length]).toEqual([200, 0])
      const { 'content-length': length } = head.headers
      expect({ ...head.headers, ...changing }).toEqual({ ...expected, ...changing })
      // A file is not compressed for HEAD, so its length is not known.
      expect(length).toBe(what === 'the OpenAPI document' ? undefined : expected['content-length'])

      for (const method of ['GET', 'HEAD'] as const) {
        const unchanged = await send(api(), url, { ...headers, 'if-none-match': String(plain.headers.etag) }, method)
        expect([unchanged.status, unchanged.body.length]).toEqual([304, 0])
        expect(unchanged.headers).not.toHaveProperty('content-encoding')
        expect([unchanged.headers.etag, varyOf(unchanged)]).toEqual([plain.headers.etag, varyOf(plain)])
      }
    }
  },
)

describe('there is no coding', () => {
  const call = (input: unknown) => `input=${encodeURIComponent(JSON.stringify({ json: input }))}`
  test.for([
    ['a short list', '/v1/pets?limit=5', 200, 'accept-encoding'],
    ['a short result', '/trpc/pets.counts', 200, 'accept-encoding'],
    ['a pet', '/v1/pets/1', 200, undefined],
    ['what is about the API key', '/trpc/session.current', 200, undefined],
    [
      'what is about the API key, beside a list',
      `/trpc/pets.list,session.current?batch=1&input=${batch}`,
      200,
      undefined,
    ],
    ['an invalid input', `/v1/pets?status=${'x'.repeat(2_000)}`, 400, undefined],
    ['an invalid input of RPC', `/trpc/pets.list?${call({ limit: 'x'.repeat(2_000) })}`, 400, undefined],
    ['an unknown path', `/v1/${'x'.repeat(2_000)}`, 404, undefined],
    ['no API key', '/v1/pets?limit=100', 401, undefined],
  ] as const)('for %s', async ([, url, status, vary]) => {
    const without = status === 401 ? { authorization: '' } : {}
    const plain = await send(api(), url, without)
    const response = await send(api(), url, { ...without, 'accept-encoding': 'br, gzip' })
    expect([response.status, response.body.equals(plain.body)]).toEqual([status, true])
    expect(response.headers).not.toHaveProperty('content-encoding')
    expect(response.headers.vary).toBe(vary === undefined ? 'Origin' : `${vary}, Origin`)
  })

  test('for a create and its replay', async () => {
    const { rest } = await startTestApi()
    const headers = { 'accept-encoding': 'br, gzip', 'idempotency-key': 'once' }
    const pet = { name: 'é'.repeat(255), categoryId: 7 }
    const [created, replayed] = [await rest.post('/v1/pets', pet, headers), await rest.post('/v1/pets', pet, headers)]
    expect([created.status, replayed.headers['idempotency-replayed'], replayed.text]).toEqual([
      201,
      'true',
      created.text,
    ])
    for (const { headers } of [created, replayed]) expect(headers).not.toHaveProperty('content-encoding')
  })

  test('for a streamed response', async () => {
    const { url, key } = await listen(api())
    const headers = {
      authorization: `Bearer ${key}`,
      'trpc-accept': 'application/jsonl',
      'accept-encoding': 'br, gzip',
    }
    const response = await fetch(`${url}/trpc/pets.list?batch=1&input=${batch}`, { headers })
    expect([response.status, response.headers.get('content-encoding')]).toEqual([200, null])
    expect(await response.text()).toContain('pet 100')
  })
})

/** Headers that differ between any two responses. */
const changing = { date: '', 'content-length': '', 'x-request-id': '' }
let requested = 0

function urlOf(what: keyof typeof urls): string {
  return `${urls[what]}&unique=${++requested}`
}

async function send(
  { app, key }: TestApi,
  url: string,
  headers: Record<string, string> = {},
  method: 'GET' | 'HEAD' = 'GET',
) {
  const response = await app.inject({ method, url, headers: { authorization: `Bearer ${key}`, ...headers } })
  return { status: response.statusCode, headers: response.headers, body: response.rawPayload }
}

function varyOf({ headers }: { headers: { vary?: unknown } }): string[] {
  return String(headers.vary).toLowerCase().split(', ').toSorted()
}
