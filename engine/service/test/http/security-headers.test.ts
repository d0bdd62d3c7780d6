import { expect, test } from 'vitest'
import { listen, shareTestApi, type TestApi } from '../../../test/notes/tests.ts'
import { consoleFolder } from '../../../test/support/console-folder.ts'
import { exchange } from '../../../test/support/raw-http.ts'

const requests = [
  ['a list', 'GET /v1/notes HTTP/1.1\r\nHost: a\r\nAuthorization: KEY', 200],
  ['a refused key', 'GET /v1/notes HTTP/1.1\r\nHost: a', 401],
  ['an RPC call', 'GET /trpc/notes.list HTTP/1.1\r\nHost: a\r\nAuthorization: KEY', 200],
  ['a refused RPC call', 'GET /trpc/notes.list HTTP/1.1\r\nHost: a', 401],
  ['the document', 'GET /openapi.json HTTP/1.1\r\nHost: a', 200],
  ['the reference', 'GET /docs/ HTTP/1.1\r\nHost: a', 200],
  ['a redirection', 'GET /docs HTTP/1.1\r\nHost: a', 301],
  ['the allowed methods', 'OPTIONS /openapi.json HTTP/1.1\r\nHost: a', 204],
  ['another method', 'DELETE /openapi.json HTTP/1.1\r\nHost: a', 405],
  ['an unknown path', 'GET /nowhere HTTP/1.1\r\nHost: a', 404],
  ['a malformed URL', 'GET /%zz HTTP/1.1\r\nHost: a', 400],
  ['a missing Host', 'GET / HTTP/1.1', 400],
  ['what is not HTTP', 'nonsense', 400],
  ['CONNECT', 'CONNECT a:1 HTTP/1.1\r\nHost: a', 405],
  ['headers that are too large', `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}`, 431],
] as const

/** What clients may store. They must ask each time whether it is current. */
const revalidated: Record<string, string> = {
  'a list': 'private, no-cache',
  'an RPC call': 'private, no-cache',
  'the document': 'no-cache',
}

const api = shareTestApi({ consoleFolder })
const overHttp = shareTestApi({ consoleFolder, config: { publicUrl: 'http://notes.example' } })
const overTls = shareTestApi({ consoleFolder, config: { publicUrl: 'https://notes.example' } })
const overTlsInCapitals = shareTestApi({ consoleFolder, config: { publicUrl: 'HTTPS://notes.example' } })

test.for(requests)('%s carries the security headers, HSTS only if clients use TLS', async ([what, head, status]) => {
  const headers = await headersOf(api(), head, status)
  expect(headers).toMatchObject({
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'cache-control': revalidated[what] ?? 'no-store',
    'content-security-policy': expect.stringMatching(/^default-src 'none'.*; frame-ancestors 'none'$/),
  })
  expect(headers).not.toHaveProperty('access-control-allow-origin')
  expect(headers).not.toHaveProperty('server')
  expect(headers).not.toHaveProperty('x-powered-by')
  for (const each of [headers, await headersOf(overHttp(), head, status)])
    expect(each).not.toHaveProperty('strict-transport-security')
  for (const service of [overTls(), overTlsInCapitals()])
    expect((await headersOf(service, head, status))['strict-transport-security']).toMatch(/^max-age=\d{8}$/)
})

async function headersOf(api: TestApi, head: string, status: number): Promise<Record<string, string>> {
  const { url, key } = await listen(api)
  const [response] = await exchange(url, `${head.replace('KEY', `Bearer ${key}`)}\r\nConnection: close\r\n\r\n`)
  expect(response?.status).toBe(status)
  return Object.fromEntries(response?.headers ?? [])
}
