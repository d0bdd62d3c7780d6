import { beforeAll, describe, expect, test } from 'vitest'
import type { RestResponse } from '../../engine/test/support/rest-client.ts'
import { addPets, shareEmptiedTestApi, shareTestApi } from '../support/petstore.ts'

/** The decisions that fill the gaps of the specification. */

const rex = { name: 'Rex', categoryId: 7 }

/** For tests that do not depend on an empty database. */
const shared = shareTestApi()

describe('names', () => {
  test.for([
    ['one character', 'R'],
    ['255 code points', '𝒳'.repeat(255)],
    ['white space around', ' Rex '],
    ['quotes, markup and SQL', `'; DROP TABLE pets; --<b>"\\`],
    ['combining marks as sent', 'e\u0301'],
    ['right-to-left text', 'כלב'],
    ['an invisible character beside a visible one', 'a\u200b'],
  ])('%s: the name is kept exactly as sent', async ([, name]) => {
    const { rest } = shared()
    const created = await rest.post('/v1/pets', { ...rex, name })
    expect(created).toMatchObject({ status: 201, body: { name } })
    expect((await rest.get(String(created.headers.location))).body).toMatchObject({ name })
  })

  test.for([
    ['an empty name', '', 'expected 1 to 255 characters'],
    ['256 characters', 'x'.repeat(256), 'expected 1 to 255 characters'],
    ['256 code points', '𝒳'.repeat(256), 'expected 1 to 255 characters'],
    ['only spaces', '   ', 'expected at least one character that is not white space'],
    ['only exotic white space', '\u00a0\u2003\u3000\ufeff', 'expected at least one character that is not white space'],
    ['NUL', 'a\u0000b', 'expected no NUL'],
    ['a line feed', 'a\nb', 'expected no control characters'],
    ['DEL', 'a\u007fb', 'expected no control characters'],
    ['a C1 control', 'a\u009fb', 'expected no control characters'],
    ['a lone surrogate', 'a\ud800b', 'expected Unicode text, got a lone surrogate'],
  ])('%s: the name is rejected', async ([, name, problem]) => {
    expect(await shared().rest.post('/v1/pets', { ...rex, name })).toMatchObject({
      status: 400,
      body: { message: `name: ${problem}` },
    })
  })
})

describe('the body of a create', () => {
  test('the status defaults to available', async () => {
    expect((await shared().rest.post('/v1/pets', rex)).body).toMatchObject({ status: 'available' })
  })

  test.for([-1, 0])('categoryId may be %i', async (categoryId) => {
    expect((await shared().rest.post('/v1/pets', { ...rex, categoryId })).body).toMatchObject({ categoryId })
  })

  test('unknown fields are ignored, also an id', async () => {
    const response = await shared().rest.post(
      '/v1/pets',
      '{"id":99,"name":"Rex","categoryId":7,"owner":1,"__proto__":{"status":"sold"}}',
    )
    expect(response.text).toMatch(/^\{"id":\d{1,2},"name":"Rex","categoryId":7,"status":"available"\}$/)
  })

  test.for([
    ['null', 'body: expected an object, got null'],
    ['[]', 'body: expected an object, got an array'],
    ['"Rex"', 'body: expected an object, got a string'],
    ['7', 'body: expected an object, got 7'],
    ['{"name":"Rex"', 'The body is not valid JSON in UTF-8.'],
    ['', 'The body is missing.'],
    ["{'name':'Rex'}", 'The body is not valid JSON in UTF-8.'],
  ])('the body %s is rejected: 400', async ([body, message]) => {
    const { rest } = shared()
    expect(await rest.post('/v1/pets', body)).toMatchObject({ status: 400, body: { code: 'invalid_request', message } })
  })

  test('invalid UTF-8 is rejected: 400', async () => {
    const payload = Buffer.from('{"categoryId":7,"name":"\xc3("}', 'latin1')
    const request = { url: '/v1/pets', headers: { 'content-type': 'application/json' }, payload }
    const response = await shared().rest.send({ method: 'POST', ...request })
    expect(response).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
  })

  test.for([
    ['identity', 201],
    ['Identity', 201],
    ['gzip', 415],
    ['identity, gzip', 415],
  ] as const)('Content-Encoding %s: %i', async ([encoding, status]) => {
    expect((await shared().rest.post('/v1/pets', rex, { 'content-encoding': encoding })).status).toBe(status)
  })

  test.for(['application/json', 'APPLICATION/JSON', 'application/json; charset=utf-8', 'application/json;a="b;c"'])(
    'Content-Type %s is accepted',
    async (type) => {
      expect((await shared().rest.post('/v1/pets', rex, { 'content-type': type })).status).toBe(201)
    },
  )

  test('64 KiB are accepted, and one byte more is rejected: 413', async () => {
    const { rest } = shared()
    const body = JSON.stringify(rex)
    const padded = body + ' '.repeat(65_536 - body.length)
    expect((await rest.post('/v1/pets', padded)).status).toBe(201)
    const tooLarge = { status: 413, body: { code: 'payload_too_large' } }
    expect(await rest.post('/v1/pets', `${padded} `)).toMatchObject(tooLarge)
  })
})

describe('parameters of the list', () => {
  test.for([
    ...'limit= limit=abc limit=5.0 limit=0x10 limit=1e1 limit=%2B5 limit=+5 limit=%205 limit=5%20 limit=٥'.split(' '),
    ...'limit=５ limit=5&limit=5 limit=true limit=null limit=NaN limit=Infinity limit=0 limit=101 limit=-1'.split(' '),
    ...'limit=9007199254740993 status= status=lost status=AVAILABLE status=sold&status=sold cursor='.split(' '),
    ...'cursor=abc cursor=-1 cursor=1.5 cursor=9223372036854775808 cursor=1&cursor=2'.split(' '),
  ])('?%s is rejected: 400', async (query) => {
    expect(await shared().rest.get(`/v1/pets?${query}`)).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', message: expect.stringContaining(`${query.split('=')[0]}: expected`) },
    })
  })

  test('the message names every invalid parameter', async () => {
    const { rest } = shared()
    expect((await rest.get('/v1/pets?limit=0&status=lost')).body).toMatchObject({
      message:
        'limit: expected an integer from 1 to 100, got 0; status: expected one of available, pending, sold, got "lost"',
    })
    const large = (await rest.get('/v1/pets?limit=9007199254740993')).body
    expect(large).toMatchObject({ message: expect.stringContaining('9007199254740993') })
  })

  test.for([
    ['Available', '"Available"'],
    ['a\u0000"', '"a\\u0000\\""'],
    ['x'.repeat(33), 'a string'],
  ] as const)('the message shows a short value that is none of those allowed: %s', async ([status, shown]) => {
    const { body } = await shared().rest.get(`/v1/pets?status=${encodeURIComponent(status)}`)
    expect(body).toMatchObject({ message: `status: expected one of available, pending, sold, got ${shown}` })
  })

  test('unknown parameters are ignored', async () => {
    expect((await shared().rest.get('/v1/pets?offset=3&limit[]=5&__proto__=1&constructor=2')).status).toBe(200)
  })
})

describe('order and paging of the list', () => {
  const shared = shareEmptiedTestApi()

  test('following the links returns every pet once, in ascending order of the ids', async () => {
    const { rest, store } = shared()
    await addPets(store, 25)
    const pages = []
    for (let url: string | undefined = '/v1/pets?limit=10'; url; ) {
      const page = await rest.get(url)
      pages.push(idsOf(page))
      url = nextOf(page)
    }
    expect(pages.map(({ length }) => length)).toEqual([10, 10, 5])
    expect(pages.flat()).toEqual(Array.from({ length: 25 }, (_, index) => index + 1))
  })

  test('the link keeps limit and status and omits unknown parameters', async () => {
    const { rest, store } = shared()
    await addPets(store, 3)
    const { headers } = await rest.get('/v1/pets?status=available&x=y&limit=2&cursor=1')
    expect(headers.link).toBe('</v1/pets?limit=2&status=available&cursor=3>; rel="next"')
  })

  test('a full page of the default size has a link, and a shorter one has none', async () => {
    const { rest, store } = shared()
    for (const [added, link] of [[19, undefined] as const, [1, '</v1/pets?cursor=20>; rel="next"'] as const]) {
      await addPets(store, added)
      expect((await rest.get('/v1/pets')).headers.link).toBe(link)
    }
  })
})

describe('petId', () => {
  test.for([
    ...'0 -1 abc 1.0 1e0 0x1 +1 %201 9223372036854775807 9223372036854775808 %D9%A1 null'.split(' '),
    '9'.repeat(400),
  ])('the id %s has no pet: 404', async (petId) => {
    const { rest, store } = shared()
    await addPets(store, 1)
    expect(await rest.get(`/v1/pets/${petId}`)).toMatchObject({ status: 404, body: { code: 'not_found' } })
  })
})

describe('methods and paths', () => {
  test.for(['GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS', 'PROPFIND'] as const)(
    '%s of a path without the value of a parameter is 404, and says nothing of other operations',
    async (method) => {
      for (const url of ['/v1/pets/', '/v1/pets//', '/v1/pets/?limit=1', '/trpc/', '/v1/']) {
        const { status, headers } = await shared().rest.send({ method: method as 'GET', url })
        expect([url, status, headers.allow, headers.deprecation]).toEqual([url, 404, undefined, undefined])
      }
    },
  )

  test.for([
    ['PUT', '/v1/pets', 405],
    ['POST', '/v1/nothing', 404],
    ['OPTIONS', '/openapi.json', 204],
  ] as const)('%s %s is %i with any body', async ([method, url, status]) => {
    for (const type of ['application/json', 'text/xml']) {
      const request = { method, url, headers: { 'content-type': type }, payload: '{' }
      expect((await shared().rest.send(request)).status).toBe(status)
    }
  })

  test.for('/v1 /v1/ /v1/nothing /v1/pets/ /v1/pets/1/ /v1/pets/1/toys /V1/pets /v1/Pets /v2/pets /pets'.split(' '))(
    'the path %s is unknown: 404',
    async (url) => {
      expect(await shared().rest.get(url)).toMatchObject({ status: 404, body: { code: 'not_found' } })
    },
  )
})

describe('the deprecation of GET /v1/pets/{petId}', () => {
  const announced = {
    deprecation: '@1795132800',
    sunset: 'Thu, 05 Dec 2030 00:00:00 GMT',
    link: '</v1/pets>; rel="successor-version", </openapi.json>; rel="deprecation"; type="application/json"',
  }

  const shared = shareTestApi()
  beforeAll(() => addPets(shared().store, 1))

  test.for([
    ['GET', '/v1/pets/1', 200],
    ['HEAD', '/v1/pets/1', 200],
    ['GET', '/v1/pets/2', 404],
    ['GET', '/v1/pets/abc', 404],
    ['DELETE', '/v1/pets/1', 405],
    ['OPTIONS', '/v1/pets/1', 204],
  ] as const)('the response to %s %s (%i) announces it', async ([method, url, status]) => {
    expect(await shared().rest.send({ method, url })).toMatchObject({ status, headers: announced })
  })

  test('the response to a request without a key announces it', async () => {
    const { statusCode, headers } = await shared().app.inject({ method: 'GET', url: '/v1/pets/1' })
    expect({ statusCode, headers }).toMatchObject({ statusCode: 401, headers: announced })
  })

  test('the responses of other paths do not announce it', async () => {
    const { headers } = await shared().rest.get('/v1/pets')
    expect(headers).not.toHaveProperty('deprecation')
    expect(headers).not.toHaveProperty('sunset')
  })
})

function idsOf({ body }: RestResponse): number[] {
  return (body as { id: number }[]).map(({ id }) => id)
}

function nextOf({ headers }: RestResponse): string | undefined {
  return /^<([^>]+)>; rel="next"$/.exec(headers.link ?? '')?.[1]
}
