import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { startTestApi } from './helpers.ts'
import { exchange } from './raw-http.ts'

const requests = [
  ['a list', 'GET /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: KEY', 200],
  ['a refused key', 'GET /v1/pets HTTP/1.1\r\nHost: a', 401],
  ['an RPC call', 'GET /trpc/pets.list HTTP/1.1\r\nHost: a\r\nAuthorization: KEY', 200],
  ['a refused RPC call', 'GET /trpc/pets.list HTTP/1.1\r\nHost: a', 401],
  ['the document', 'GET /openapi.json HTTP/1.1\r\nHost: a', 200],
  ['the reference', 'GET /docs/ HTTP/1.1\r\nHost: a', 200],
  ['a redirection', 'GET / HTTP/1.1\r\nHost: a', 302],
  ['the allowed methods', 'OPTIONS /openapi.json HTTP/1.1\r\nHost: a', 204],
  ['another method', 'DELETE /openapi.json HTTP/1.1\r\nHost: a', 405],
  ['an unknown path', 'GET /nowhere HTTP/1.1\r\nHost: a', 404],
  ['a malformed URL', 'GET /%zz HTTP/1.1\r\nHost: a', 400],
  ['a missing Host', 'GET / HTTP/1.1', 400],
  ['what is not HTTP', 'nonsense', 400],
  ['CONNECT', 'CONNECT a:1 HTTP/1.1\r\nHost: a', 405],
  ['headers that are too large', `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}`, 431],
] as const

test.for(requests)('%s carries the security headers', async ([, head, status]) => {
  const { app, key } = await startTestApi()
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const [answer] = await exchange(url, `${head.replace('KEY', `Bearer ${key}`)}\r\nConnection: close\r\n\r\n`)
  expect(answer?.status).toBe(status)
  const headers = Object.fromEntries(answer?.headers ?? [])
  expect(headers).toMatchObject({
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'strict-transport-security': expect.stringMatching(/^max-age=\d{8}$/),
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'cache-control': 'no-store',
    'content-security-policy': expect.stringMatching(/^default-src '(none|self)'.*; frame-ancestors 'none'$/),
  })
  expect(headers).not.toHaveProperty('access-control-allow-origin')
  expect(headers).not.toHaveProperty('server')
  expect(headers).not.toHaveProperty('x-powered-by')
})

test('the page of the reference may run its own scripts and call the servers of the document, and no others', async () => {
  const servers = { publicUrl: 'https://pets.example/shop', stagingUrl: 'https://staging.example' }
  const { rest } = await startTestApi({ config: servers })
  const { text, headers } = await rest.get('/docs/')
  const [, script = ''] = /<script type="text\/javascript">([^<]+)<\/script>/.exec(text) ?? []
  const hash = createHash('sha256').update(script).digest('base64')
  expect(headers['content-security-policy']).toContain(`; script-src 'self' 'sha256-${hash}'; `)
  expect(headers['content-security-policy']).toContain(
    "; connect-src 'self' https://pets.example https://staging.example; ",
  )
  expect(headers['cache-control']).toBe('no-store')
})

test('the script of the reference may be kept, under the policy of everything else', async () => {
  const { rest } = await startTestApi()
  const { headers } = await rest.get('/docs/js/scalar.js')
  expect(headers).toMatchObject({
    'cache-control': 'max-age=3600',
    'content-security-policy': expect.stringMatching(/^default-src 'none'/),
  })
})
