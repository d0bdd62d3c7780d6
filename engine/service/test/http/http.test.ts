import { describe, expect, test } from 'vitest'
import { listen, shareTestApi, validBody } from '../../../test/notes/fixtures.ts'
import { exchange, expectError, host } from '../../../test/support/raw-http.ts'

/** Requests over real sockets. Every error has the Error body. */

/** For tests that do not depend on an empty database or log. */
const shared = shareTestApi()

describe('a request that reaches no route', () => {
  const get = (headers: string) => `GET /v1/notes HTTP/1.1\r\n${headers}\r\n`
  const to = (line: string) => `${line}\r\n${host}\r\n`
  const invalid = {
    'bytes that are not HTTP': 'GARBAGE\r\n\r\n',
    'a TLS greeting': Buffer.from('16030100a5010000a10303', 'hex'),
    'a preface of HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'an unknown method': to('BREW /v1/notes HTTP/1.1'),
    'no Host': get(''),
    'two Hosts': get(host + host),
    'a Host with a blank': get('Host: a b\r\n'),
    'a Host with a path': get('Host: a/b\r\n'),
    'a Host with an open bracket': get('Host: [::1\r\n'),
    'a Host with a wrong port': get('Host: a:x\r\n'),
    'GET *': to('GET * HTTP/1.1'),
    'POST *': to('POST * HTTP/1.1'),
    'Transfer-Encoding in HTTP/1.0': 'POST /v1/notes HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    'a line that ends without CR': `GET /v1/notes HTTP/1.1\n${host}\r\n`,
    'a header without a name': get(`${host}: 1\r\n`),
    'a method in lower case': to('get /v1/notes HTTP/1.1'),
    'a target that is no URL': to('GET mailto:validBody HTTP/1.1'),
    'an unknown version': to('GET /v1/notes HTTP/1.2'),
    'no version': 'GET /v1/notes\r\n\r\n',
    'a Content-Length beyond 64 bits': get(`${host}Content-Length: ${'9'.repeat(30)}\r\n`),
    'half an escape': to('GET /v1/notes/%e2%82 HTTP/1.1'),
  }

  test.for([
    ...Object.entries(invalid).map(([what, bytes]) => [what, bytes, 400, 'invalid_request'] as const),
    ['70 kB of headers', get(`${host}X-A: ${'a'.repeat(70_000)}\r\n`), 431, 'headers_too_large'],
    ['a URL over 8 KiB', to(`GET /v1/notes?${'a'.repeat(8_183)} HTTP/1.1`), 414, 'uri_too_long'],
    ['an unknown expectation', get(`${host}Expect: tea\r\n`), 417, 'expectation_failed'],
    ['CONNECT', to('CONNECT service.test:80 HTTP/1.1'), 405, 'method_not_allowed'],
    ['GET //', to('GET // HTTP/1.1'), 404, 'not_found'],
    ['TRACE of nothing', to('TRACE /x HTTP/1.1'), 404, 'not_found'],
    ['dots in the path', to('GET /v1/../docs/ HTTP/1.1'), 401, 'unauthorized'],
  ] as const)('%s', async ([, bytes, status, code]) => {
    const { url } = await listen(shared())
    const [response, ...more] = await exchange(url, bytes, { quiet: 300 })
    expectError(response, status, code)
    expect(more).toEqual([])
  })
})

describe('a valid request', () => {
  test.for([
    ['HTTP/1.0 without a Host', 'GET /v1/notes HTTP/1.0\r\n', ''],
    ['an absolute URL', 'GET http://service.test/v1/notes HTTP/1.1\r\n', host],
    ['an absolute URL of an RPC call', 'GET http://service.test/trpc/notes.list HTTP/1.1\r\n', host],
    ['a Host in brackets', 'GET /v1/notes HTTP/1.1\r\n', 'Host: [::1]:3000\r\n'],
    ['a URL of 8 KiB', `GET /v1/notes?${'a'.repeat(8_182)} HTTP/1.1\r\n`, host],
    ['3,000 headers before the API key', 'GET /v1/notes HTTP/1.1\r\n', host + 'a:\r\n'.repeat(3_000)],
    ['headers as short as Host', 'GET /v1/notes HTTP/1.1\r\n', `${host}Date: Sat, 21 Nov 2026 00:00:00 GMT\r\n`],
  ])('%s', async ([, line, hosts]) => {
    const { url, authorization } = await listen(shared())
    const [response] = await exchange(url, `${line}${hosts}${authorization}Connection: close\r\n\r\n`)
    expect(response).toMatchObject({ status: 200, body: expect.stringMatching(/\[.*\]/) })
  })

  test('OPTIONS * is served', async () => {
    const { url } = await listen(shared())
    const [response] = await exchange(url, `OPTIONS * HTTP/1.1\r\n${host}Connection: close\r\n\r\n`)
    expect(response?.status).toBe(204)
    expect(response?.headers.get('allow')).toBe('GET, HEAD, OPTIONS')
  })

  test('a body in chunks', async () => {
    const { url, authorization } = await listen(shared())
    const chunks = `5\r\n${validBody.slice(0, 5)}\r\n${(validBody.length - 5).toString(16)}\r\n${validBody.slice(5)}\r\n0\r\n\r\n`
    const head = `POST /v1/notes HTTP/1.1\r\n${host}${authorization}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`
    expect((await exchange(url, head + chunks, { quiet: 300 }))[0]?.status).toBe(201)
  })
})

test.for([
  ['', 200],
  ['service.test:', 200],
  ['service.test:65535', 200],
  ['[::1]', 200],
  ['service.test:65536', 400],
  [':3000', 400],
  ['a%zz', 400],
  ['999.999.999.999', 400],
] as const)('Host: %s is handled alike by both adapters', async ([name, status]) => {
  const { url, authorization } = await listen(shared())
  for (const target of ['/v1/notes', '/trpc/notes.list']) {
    const [response] = await exchange(
      url,
      `GET ${target} HTTP/1.1\r\nHost: ${name}\r\n${authorization}Connection: close\r\n\r\n`,
    )
    expect(response?.status, target).toBe(status)
    if (status === 400) expect(response?.body).toContain('Send exactly one Host header')
  }
})

test.for(['/v1/notes', '/trpc/notes.create'])(
  'a POST to %s without Content-Length and Transfer-Encoding receives a response',
  async (path) => {
    const { url, authorization } = await listen(shared())
    const head = `POST ${path} HTTP/1.1\r\n${host}${authorization}Content-Type: application/json\r\n\r\n`
    const [response] = await exchange(url, head, { quiet: 300 })
    expect(response).toMatchObject({ status: 400, body: expect.stringContaining('"code":"invalid_request"') })
  },
)
