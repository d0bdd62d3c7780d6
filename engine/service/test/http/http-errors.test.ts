import { once } from 'node:events'
import { METHODS } from 'node:http'
import { describe, expect, test } from 'vitest'
import { createRequest, listen, shareTestApi, startLocked, validBody } from '../../../test/notes/fixtures.ts'
import {
  collect,
  exchange,
  expectError,
  expectNothingInternal,
  host,
  json,
  openSocket,
  statusesIn,
} from '../../../test/support/raw-http.ts'

/** Errors over real sockets: each in detail, and after other requests on the connection. */

/** For tests that do not depend on an empty database. */
const shared = shareTestApi()

interface Envelope {
  error: { json: { message: string; data: unknown } }
}

test('20 kB of chunk extensions: 413', async () => {
  const { url, authorization } = await listen(shared())
  const head = `POST /v1/notes HTTP/1.1\r\n${host}${authorization}${json}Transfer-Encoding: chunked\r\n\r\n`
  const [response] = await exchange(url, `${head}1d;${'x'.repeat(20_000)}\r\n${validBody}\r\n0\r\n\r\n`)
  expectError(response, 413, 'payload_too_large')
})

describe('a target in absolute form', () => {
  test('keeps its query', async () => {
    const { url, authorization } = await listen(shared())
    const get = `GET http://service.test/v1/notes?limit=0 HTTP/1.1\r\n${host}${authorization}Connection: close\r\n\r\n`
    const [response] = await exchange(url, get)
    expect(response).toMatchObject({ status: 400, body: expect.stringContaining('limit: expected') })
  })

  test.for(['http://', 'http://[', 'http://a:99999/v1/notes'])('%s is 400', async (target) => {
    const { url, authorization } = await listen(shared())
    const [response] = await exchange(url, `GET ${target} HTTP/1.1\r\n${host}${authorization}Connection: close\r\n\r\n`)
    expectError(response, 400, 'invalid_request')
  })
})

describe('a malformed percent-encoding is 400, with or without a key,', () => {
  const queries = 'x=%ZZ x=% x=%1 %ZZ %ZZ=1 limit=1&x=a%2 x=%FF %e2%82 x=%e2&y=%82 x=%ed%a0%80'.split(' ')
  const paths = '/v1/notes /v1/notes/1 /v1/nowhere /trpc/notes.list /trpc/notes.list,notes.counts /trpc'.split(' ')
  const openPaths = ['/metrics', '/docs', '/docs/', '/openapi.json', '/livez', '/readyz', '/', '/nowhere']

  test.for([...paths, ...openPaths])('in the query of %s', async (path) => {
    const { app, key } = shared()
    for (const query of queries) {
      for (const authorization of [`Bearer ${key}`, '']) {
        const response = await app.inject({ url: `${path}?${query}`, headers: { authorization } })
        expect(response.statusCode, query).toBe(400)
        expect(response.payload).toContain('The URL is malformed: check its percent-encoding.')
      }
    }
  })

  test.for(['/v1/notes?x=%41%2B', '/trpc/notes.counts?x=%e2%82%ac', '/livez?%F0%9F%98%80=%00'])(
    'and a valid one is not: %s',
    async (url) => {
      const { app, key } = shared()
      expect((await app.inject({ url, headers: { authorization: `Bearer ${key}` } })).statusCode).toBe(200)
    },
  )
})

test('an unknown expectation is no error in HTTP/1.0', async () => {
  const { url, authorization } = await listen(shared())
  const [response] = await exchange(url, `GET /v1/notes HTTP/1.0\r\n${authorization}Expect: tea\r\n\r\n`)
  expect(response).toMatchObject({ status: 200, body: '[]' })
})

test.for([
  'application/json5',
  'application/json-seq',
  'application/json, text/plain',
  'multipart/form-data; boundary=x',
  'text/json',
  ';',
  ...'text/plain application/jsonx application/x-www-form-urlencoded application/problem+json json'.split(' '),
])('a body of the type %s is 415', async (type) => {
  const { url, authorization } = await listen(shared())
  const head = `POST /v1/notes HTTP/1.1\r\n${host}${authorization}Connection: close\r\n`
  const [response] = await exchange(
    url,
    `${head}Content-Type: ${type}\r\nContent-Length: ${validBody.length}\r\n\r\n${validBody}`,
  )
  expectError(response, 415, 'unsupported_media_type')
})

describe('after other requests on the connection', () => {
  test('the error for an invalid body is sent after the responses to earlier requests', async () => {
    const { url, authorization } = await listen()
    const broken = `POST /v1/notes HTTP/1.1\r\n${host}${authorization}${json}Transfer-Encoding: chunked\r\n\r\nzz\r\n`
    const create = createRequest(authorization)
    const [first, second, refused, ...more] = await exchange(url, create + create + broken)
    expect([first?.status, second?.status]).toEqual([201, 201])
    expectError(refused, 400, 'invalid_request')
    expect(more).toEqual([])
  })

  test('a body that becomes invalid while its request waits does not suppress the responses to earlier requests', async () => {
    const { url, authorization, release } = await startLocked()
    const socket = await openSocket(url)
    const received = collect(socket)
    socket.once('end', () => socket.end())
    const closed = once(socket, 'close')
    socket.write(
      `${createRequest(authorization)}POST /v1/notes HTTP/1.1\r\n${host}${json}Transfer-Encoding: chunked\r\n\r\n`,
    )
    await fetch(url, { redirect: 'manual' })
    socket.write('zz\r\n')
    await fetch(url, { redirect: 'manual' })
    release()
    await closed
    expect(statusesIn(received.text)).toEqual([201, 400])
  })
})

describe('every method that Node knows', () => {
  const others = METHODS.filter((method) => !['CONNECT', 'GET', 'HEAD', 'OPTIONS', 'POST'].includes(method))

  test.for([
    ['/v1/notes', 'GET, HEAD, POST, OPTIONS'],
    ['/v1/notes/1', 'GET, HEAD, OPTIONS'],
    ['/', 'GET, HEAD, OPTIONS'],
    ['/openapi.json', 'GET, HEAD, OPTIONS'],
    ['/docs', 'GET, HEAD, OPTIONS'],
    ['/docs/', 'GET, HEAD, OPTIONS'],
    ['/livez', 'GET, HEAD, OPTIONS'],
    ['/readyz', 'GET, HEAD, OPTIONS'],
    ['/metrics', 'GET, HEAD, OPTIONS'],
    ['/trpc/notes.list', 'GET, HEAD, POST, OPTIONS'],
  ] as const)('is 405 on %s unless it is served', async ([path, allow]) => {
    const { url, authorization } = await listen(shared())
    for (const method of others) {
      const request = `${method} ${path} HTTP/1.1\r\n${host}${authorization}Connection: close\r\n\r\n`
      const [response] = await exchange(url, request)
      if (path.startsWith('/trpc')) expect(response?.status, method).toBe(405)
      else expectError(response, 405, 'method_not_allowed')
      expect(response?.headers.get('allow'), method).toBe(allow)
    }
  })

  test('is 404 on an unknown path', async () => {
    const { url, authorization } = await listen(shared())
    for (const method of [...others, 'GET', 'OPTIONS', 'POST']) {
      const [response] = await exchange(
        url,
        `${method} /v1/cards HTTP/1.1\r\n${host}${authorization}Connection: close\r\n\r\n`,
      )
      expectError(response, 404, 'not_found')
    }
  })
})

describe('the RPC adapter sends errors in the envelope of tRPC', () => {
  const paths = (count: number) => Array.from({ length: count }, () => 'notes.list').join(',')
  const note = '{"json":{"body":"NAME","priority":"7"},"meta":{"values":{"priority":["bigint"]}}}'
  const invalidUtf8 = Uint8Array.from(Buffer.from(note.replace('NAME', '\xc3('), 'latin1'))
  const badBigInt = encodeURIComponent('{"json":{"noteId":"abc"},"meta":{"values":{"noteId":["bigint"]}}}')

  const multipart = `--x\r\nContent-Disposition: form-data; name="name"\r\n\r\n${'x'.repeat(200_000)}\r\n--x--\r\n`
  const typed = (type: string, body = '{}') => ({ body, headers: { 'content-type': type } })
  const codes: Record<number, string> = {
    400: 'invalid_request',
    401: 'unauthorized',
    404: 'not_found',
    405: 'method_not_allowed',
    413: 'payload_too_large',
    415: 'unsupported_media_type',
  }
  const noProcedure = 'There is no such procedure.'
  const notJson = 'The input is not valid JSON.'
  const noBatch = 'batch: expected 1, once, or no such parameter'

  test.for<[why: string, status: number, path: string, sent?: RequestInit, message?: string]>([
    ['no key', 401, 'notes.list', { headers: { authorization: '' } }],
    ['no such procedure', 404, 'notes.sell', {}, noProcedure],
    ['procedures without batch=1', 404, 'notes.list,notes.list', {}, noProcedure],
    ['no procedure at all', 404, ''],
    ['a prototype', 404, '__proto__'],
    ['a mutation by GET', 405, 'notes.create', {}, 'notes.create is a mutation. Use POST.'],
    ['a query by POST', 405, 'notes.list', { body: '{}' }, 'notes.list is a query. Use GET, HEAD.'],
    ['a query by PUT', 405, 'notes.list', { method: 'PUT' }],
    ['a body over 64 KiB', 413, 'notes.create', { body: ' '.repeat(65_537) }],
    ['a multipart body, of any size', 415, 'notes.create', typed('multipart/form-data; boundary=x', multipart)],
    ['text', 415, 'notes.create', typed('text/plain')],
    ['something like JSON', 415, 'notes.create', typed('application/jsonx')],
    ['a compressed body', 415, 'notes.create', { body: '{}', headers: { 'content-encoding': 'gzip' } }],
    ['malformed JSON', 400, 'notes.create', { body: '{' }, notJson],
    ['malformed JSON in the query', 400, 'notes.list?input=%7B', {}, notJson],
    ['two inputs', 400, 'notes.list?input=1&input=1', {}, 'input: expected one parameter, got several'],
    ['invalid UTF-8', 400, 'notes.create', { body: invalidUtf8 }],
    ['an empty body', 400, 'notes.create', { body: '' }, 'input: required'],
    ['null', 400, 'notes.create', { body: '{"json":null}' }, 'input: expected an object, got null'],
    ['bad superjson', 400, `notes.get?input=${badBigInt}`],
    ['a batch of 21', 400, `${paths(21)}?batch=1`, {}, 'A batch has at most 20 calls.'],
    ['batch=1 twice', 400, 'notes.list?batch=1&batch=1', {}, noBatch],
    ['batch=true', 400, 'notes.list?batch=true', {}, noBatch],
  ])('%s: %i', async ([, status, path, { body, headers, method } = {}, expected]) => {
    const { url, key } = await listen(shared())
    const response = await fetch(`${url}/trpc/${path}`, {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body }),
    })
    expect(response.status).toBe(status)
    expect(response.headers.get('content-type')).toMatch(/^application\/json\b/)
    expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    const [envelope] = [(await response.json()) as Envelope | Envelope[]].flat()
    const { message = '', data } = envelope?.error.json ?? {}
    expect(data).toMatchObject({ code: codes[status], message, status, httpStatus: status })
    if (expected !== undefined) expect(message).toBe(expected)
    expectNothingInternal(message)
  })
})
