import { describe, expect, test } from 'vitest'
import { listen, shareTestApi, startTestApi, startTracedApi, type TestApi } from '../../../test/notes/fixtures.ts'
import { consoleFolder } from '../../../test/support/console-folder.ts'
import { exchange } from '../../../test/support/raw-http.ts'

/** Security headers, and the CORS protocol of the Fetch Standard (https://fetch.spec.whatwg.org/#cors-protocol). */

const origin = 'https://shop.example'
const body = (content: string, length = content.length) =>
  `Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${content}`

const responses: [what: string, status: number, request: string][] = [
  ['a list', 200, 'GET /v1/notes KEY\r\n\r\n'],
  ['a streamed RPC response', 200, 'GET /trpc/notes.list?batch=1 KEY\r\ntrpc-accept: application/jsonl\r\n\r\n'],
  ['a compressed page', 200, 'HEAD / KEY\r\nAccept-Encoding: gzip\r\n\r\n'],
  ['a malformed URL', 400, 'GET /v1/notes/%zz KEY\r\n\r\n'],
  ['malformed JSON', 400, `POST /v1/notes KEY\r\n${body('{')}`],
  [
    'a malformed chunk',
    400,
    'POST /v1/notes KEY\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nx',
  ],
  ['a missing key', 401, 'GET /v1/notes\r\n\r\n'],
  ['a missing key for RPC', 401, 'GET /trpc/notes.list\r\n\r\n'],
  ['an unknown path', 404, 'GET /nowhere\r\n\r\n'],
  ['an unknown path of the interface', 404, 'GET /v1/nowhere KEY\r\n\r\n'],
  ['an unknown procedure', 404, 'GET /trpc/notes.none KEY\r\n\r\n'],
  ['another method', 405, 'POST /v1/notes/1 KEY\r\n\r\n'],
  ['a large body', 413, `POST /v1/notes KEY\r\n${body('x'.repeat(70_000))}`],
  ['a long URL', 414, `GET /v1/notes?${'x'.repeat(9_000)} KEY\r\n\r\n`],
  ['another type', 415, 'POST /v1/notes KEY\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}'],
  ['an unknown expectation', 417, 'GET /v1/notes KEY\r\nExpect: x\r\n\r\n'],
  ['the allowed methods', 204, 'OPTIONS /openapi.json\r\n\r\n'],
  ['an RPC call', 200, 'GET /trpc/notes.list KEY\r\n\r\n'],
  ['the document', 200, 'GET /openapi.json\r\n\r\n'],
  ['the reference', 200, 'GET /docs/\r\n\r\n'],
  ['a redirection', 301, 'GET /docs\r\n\r\n'],
]
/** The parser does not report the origin of these. */
const unreadable: typeof responses = [
  ['headers that are too large', 431, `GET /v1/notes\r\nX-Large: ${'x'.repeat(20_000)}\r\n\r\n`],
  ['bytes that are not HTTP', 400, 'GET /v1/notes\r\nX Y: 1\r\n\r\n'],
  ['CONNECT', 405, 'CONNECT a:1\r\n\r\n'],
]

/** Every page can read them (https://fetch.spec.whatwg.org/#cors-safelisted-response-header-name). */
const safelisted = ['cache-control', 'content-language', 'content-length', 'content-type', 'expires', 'pragma']
/** Browsers, caches and connections need them, but no page does. */
const notForPages = [
  ...['access-control-allow-origin', 'access-control-expose-headers', 'vary'],
  ...['connection', 'transfer-encoding', 'content-encoding'],
  ...['content-security-policy', 'cross-origin-resource-policy', 'referrer-policy'],
  ...['x-content-type-options', 'x-frame-options'],
]

const withoutOrigins = shareTestApi({ consoleFolder })
const withOrigins = shareTestApi({ config: { corsOrigins: [origin] }, consoleFolder })

describe('with CORS_ORIGINS', () => {
  test.for(responses)('%s (%i) is readable only for pages of the configured origins', async ([, status, request]) => {
    const own = await send(request, origin)
    expect(own).toMatchObject({ status, allowed: origin })
    expect(own.vary).toContain('origin')
    expect(own.exposed).toEqual(expect.arrayContaining(['link', 'location', 'retry-after', 'x-request-id']))
    for (const other of ['https://evil.example', 'null', `${origin}, ${origin}`, undefined]) {
      const response = await send(request, other)
      expect(response).toMatchObject({ status, allowed: undefined, exposed: undefined })
      expect(response.vary).toContain('origin')
    }
  })

  test('a response keeps the other values of its Vary header', async () => {
    expect((await send('HEAD / KEY\r\nAccept-Encoding: gzip\r\n\r\n', origin)).vary).toContain('accept-encoding')
    const streamed = 'GET /trpc/notes.list?batch=1 KEY\r\ntrpc-accept: application/jsonl\r\n\r\n'
    expect((await send(streamed, origin)).vary).toContain('trpc-accept')
  })

  test.for(unreadable)(
    'the error for %s (%i), of which the origin is not known, is readable, and has a date',
    async ([, status, request]) => {
      const response = await send(request, origin)
      expect(response).toMatchObject({ status, allowed: '*' })
      expect(response.exposed).toContain('x-request-id')
      expect(Date.parse(response.headers.date ?? '')).toBeGreaterThan(Date.now() - 60_000)
    },
  )

  test('429 and 503 are readable', async () => {
    const { app, key, url } = await listen(
      await startTestApi({ config: { corsOrigins: [origin], rateLimit: { requests: 1, seconds: 60 } } }),
    )
    const headers = { origin, authorization: `Bearer ${key}` }
    await fetch(`${url}/v1/notes`, { headers })
    const limited = await fetch(`${url}/v1/notes`, { headers })
    app.isDraining = true
    const unready = await fetch(`${url}/readyz`, { headers })
    expect([limited.status, unready.status]).toEqual([429, 503])
    for (const response of [limited, unready]) {
      expect(response.headers.get('access-control-allow-origin')).toBe(origin)
      expect(response.headers.get('vary')).toBe('Origin')
    }
  })

  test('a page can read every header that is meant for it', async () => {
    const rateLimit = { requests: 9, seconds: 60 }
    const api = await startTracedApi({ config: { corsOrigins: [origin], rateLimit }, consoleFolder })
    const { url, authorization } = await listen(api)
    const create = `${authorization}Idempotency-Key: a\r\n${body('{"body":"Ann","priority":7}')}`
    const requests = [
      `POST /v1/notes\r\n${create}`,
      `POST /v1/notes\r\n${create}`,
      `GET /v1/notes?limit=1\r\n${authorization}\r\n`,
      `GET /v1/notes/1\r\n${authorization}\r\n`,
      `GET /trpc/notes.list?batch=1\r\n${authorization}trpc-accept: application/jsonl\r\n\r\n`,
      'GET /v1/notes\r\n\r\n',
      'PUT /\r\n\r\n',
      'HEAD /\r\nAccept-Encoding: gzip\r\n\r\n',
      'GET /docs\r\n\r\n',
      'GET /nowhere\r\n\r\n',
      ...Array<string>(9).fill(`GET /v1/notes\r\n${authorization}\r\n`),
    ]
    const sent = new Set<string>()
    const statuses = new Set<number>()
    const exposed = new Set<string>()
    for (const request of requests) {
      const [line, rest] = request.split(/\r\n(.*)/s)
      const common = `Host: a\r\nConnection: close\r\nOrigin: ${origin}\r\n`
      const [response] = await exchange(url, `${line} HTTP/1.1\r\n${common}${rest}`)
      statuses.add(response?.status ?? 0)
      for (const name of response?.headers.keys() ?? []) sent.add(name)
      for (const name of response?.headers.get('access-control-expose-headers')?.split(', ') ?? []) exposed.add(name)
    }
    expect([...statuses].sort()).toEqual([200, 201, 301, 401, 404, 405, 429])
    expect([...sent].filter((name) => !safelisted.includes(name) && !notForPages.includes(name)).sort()).toEqual(
      [...exposed].sort(),
    )
  })

  const preflight = 'Access-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: authorization\r\n'

  test.for([
    ['the list', '/v1/notes'],
    ['an unknown path', '/nowhere'],
    ['an unknown path of the interface', '/v1/nowhere'],
    ['an RPC call', '/trpc/notes.list'],
    ['a malformed URL', '/v1/notes/%zz'],
    ['a long URL', `/v1/notes?${'x'.repeat(9_000)}`],
  ] as const)('the preflight for %s succeeds, so the page can read the response', async ([, path]) => {
    const response = await send(`OPTIONS ${path}\r\n${preflight}\r\n`, origin)
    expect(response).toMatchObject({ status: 204, allowed: origin, body: '' })
    expect(response.headers).toMatchObject({
      'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE, *',
      'access-control-allow-headers': [
        ...['authorization', 'content-type', 'idempotency-key', 'if-none-match', 'x-request-id'],
        ...['traceparent', 'tracestate', 'baggage', 'trpc-accept', 'x-trpc-source', 'last-event-id', '*'],
      ].join(', '),
      'access-control-max-age': '600',
      'x-content-type-options': 'nosniff',
      'x-request-id': expect.any(String),
    })
    expect(response.headers).not.toHaveProperty('access-control-allow-credentials')
  })

  test.for([
    ['no Origin', preflight, undefined],
    ['no Access-Control-Request-Method', '', origin],
    ['another origin', preflight, 'https://evil.example'],
  ] as const)('OPTIONS with %s has the same response as without CORS_ORIGINS', async ([, headers, from]) => {
    const known = await send(`OPTIONS /v1/notes KEY\r\n${headers}\r\n`, from)
    expect(known).toMatchObject({ status: 204, headers: { allow: 'GET, HEAD, POST, OPTIONS' } })
    expect(known.headers).not.toHaveProperty('access-control-allow-methods')
    const unknown = await send(`OPTIONS /nowhere KEY\r\n${headers}\r\n`, from)
    expect(JSON.parse(unknown.body)).toMatchObject({ code: 'not_found', status: 404 })
    const unauthorized = await send(`OPTIONS /v1/nowhere\r\n${headers}\r\n`, from)
    expect(JSON.parse(unauthorized.body)).toMatchObject({ code: 'unauthorized', status: 401 })
  })
})

/** What clients may store. They must ask each time whether it is current. */
const revalidated: Record<string, string> = {
  'a list': 'private, no-cache',
  'an RPC call': 'private, no-cache',
  'the document': 'no-cache',
  'a compressed page': 'no-cache',
}
const overHttp = shareTestApi({ consoleFolder, config: { publicUrl: 'http://notes.example' } })
const overTls = shareTestApi({ consoleFolder, config: { publicUrl: 'HTTPS://notes.example' } })

test.for([...responses, ...unreadable])(
  '%s (%i) carries the security headers, and none of CORS',
  async ([what, status, request]) => {
    const plain = await send(request, origin, withoutOrigins())
    expect([plain.status, plain.allowed, plain.exposed]).toEqual([status, undefined, undefined])
    expect(plain.vary).not.toContain('origin')
    expect(plain.headers).toMatchObject({
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'cache-control': revalidated[what] ?? 'no-store',
      'content-security-policy': expect.stringMatching(/^default-src 'none'.*; frame-ancestors 'none'/),
    })
    for (const name of ['server', 'x-powered-by']) expect(plain.headers).not.toHaveProperty(name)
    const ofTls = async (api: TestApi) => (await send(request, undefined, api)).headers['strict-transport-security']
    expect([plain.headers['strict-transport-security'], await ofTls(overHttp())]).toEqual([undefined, undefined])
    expect(await ofTls(overTls())).toMatch(/^max-age=\d{8}$/)
  },
)

/** Sends the request, with `KEY` replaced by a valid key, from a page of the origin. */
async function send(request: string, from: string | undefined, api: TestApi = withOrigins()) {
  const { url, authorization } = await listen(api)
  const [, line = '', key = '', rest = ''] = /^(\S+ \S+)( KEY)?\r\n(.*)$/s.exec(request) ?? []
  const lines = `Host: a\r\nConnection: close\r\n${key && authorization}${from ? `Origin: ${from}\r\n` : ''}`
  const [response] = await exchange(url, `${line} HTTP/1.1\r\n${lines}${rest}`)
  const headers: Record<string, string> = Object.fromEntries(response?.headers ?? [])
  return {
    status: response?.status,
    body: response?.body ?? '',
    headers,
    allowed: headers['access-control-allow-origin'],
    exposed: headers['access-control-expose-headers']?.split(', '),
    vary: headers.vary?.toLowerCase().split(/, */) ?? [],
  }
}
