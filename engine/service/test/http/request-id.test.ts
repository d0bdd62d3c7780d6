import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { listen, mintApiKey, shareTestApi, startTestApi } from '../../../test/notes/fixtures.ts'
import { consoleFolder } from '../../../test/support/console-folder.ts'
import { type LogLine, logLinesIn } from '../../../test/support/log-lines.ts'
import { exchange, host, json, openSocket } from '../../../test/support/raw-http.ts'

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const shared = shareTestApi({ consoleFolder })

function linesOf(requestId: string | undefined): LogLine[] {
  return logLinesIn(shared().log.join('')).filter((line) => line.requestId === requestId)
}

describe('a valid X-Request-Id', () => {
  test.for([
    ['a list', 200, '/v1/notes'],
    ['an RPC call', 200, '/trpc/notes.list'],
    ['an RPC batch', 207, '/trpc/notes.list,notes.get?batch=1'],
    ['an unknown procedure', 404, '/trpc/notes.none'],
    ['an unknown path', 404, '/nowhere'],
    ['an unknown path of the interface', 404, '/v1/nowhere'],
    ['a wrong parameter', 400, '/v1/notes?limit=x'],
    ['a URL that cannot be decoded', 400, '/v1/notes/%zz'],
    ['a long URL', 414, `/v1/notes?${'x'.repeat(9_000)}`],
    ['the API reference', 200, '/docs/'],
  ] as const)('is in the response to %s (%i) and in its log line', async ([, status, url]) => {
    const id = randomUUID()
    const response = await shared().rest.get(url, { 'x-request-id': id })
    expect([response.status, response.headers['x-request-id']]).toEqual([status, id])
    expect(linesOf(id)).toMatchObject([{ msg: 'request', status, bytes: Buffer.byteLength(response.text) }])
  })

  test.for([
    ...['a', 'A-Z.az_09~+/=:', 'x'.repeat(128), randomUUID(), randomUUID().replaceAll('-', '')],
    ...['01JD8Z3Y6V9QK4T7M2W5X8C1BN', 'Root=1-67891233-abcdef012345678912345678', 'F'.repeat(64)],
  ])('can be %s', async (id) => {
    expect((await shared().rest.get('/livez', { 'x-request-id': id })).headers['x-request-id']).toBe(id)
  })

  test.for([
    ['a malformed chunk', 400, `Transfer-Encoding: chunked\r\n\r\nzz\r\n`],
    ['a body that ends early', 400, 'Content-Length: 10\r\n\r\n{'],
  ] as const)('is in the response to %s (%i), and in each log line', async ([, status, rest]) => {
    const [id, { url, authorization }] = [randomUUID(), await listen(shared())]
    const head = `POST /v1/notes HTTP/1.1\r\n${host}${authorization}${json}X-Request-Id: ${id}\r\n`
    const socket = await openSocket(url)
    let received = ''
    socket.on('data', (chunk) => (received += chunk))
    socket.end(head + rest)
    await expect.poll(() => received).toContain(`x-request-id: ${id}\r\n`)
    await expect.poll(() => linesOf(id)).toContainEqual(expect.objectContaining({ msg: 'request', status }))
    const [body = ''] = received.split('\r\n\r\n').slice(1)
    expect(linesOf(id).find(({ msg }) => msg === 'request')?.bytes).toBe(body.length)
  })

  test.for(['/v1/notes', '/trpc/notes.list', '/trpc/notes.list?batch=1', 'streamed'])(
    'is in the log line of an error, of which the response does not show the cause: %s',
    async (url) => {
      const { app, key, store, log } = await startTestApi()
      store.notes.list = () => Promise.reject(new Error('the cause'))
      const stream = url === 'streamed' ? { 'trpc-accept': 'application/jsonl' } : {}
      const headers = { authorization: `Bearer ${key}`, 'x-request-id': 'given', ...stream }
      const { payload } = await app.inject({ url: url === 'streamed' ? '/trpc/notes.list?batch=1' : url, headers })
      expect(payload).toContain('"code":"internal_error"')
      expect(payload).not.toContain('the cause')
      const faults = logLinesIn(log.join('')).filter(({ level }) => level === 'error')
      expect(faults).toMatchObject([{ requestId: 'given', err: { message: 'the cause' } }])
    },
  )
})

describe('without a valid X-Request-Id the service creates one', () => {
  const key = mintApiKey()
  const secret = key.slice('note_'.length)
  const jwt = 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxIn0.x'

  const secrets = [key, `id-${key}`, `NOTE_${secret}`, secret, secret.slice(0, 32), `a.${secret}`]

  test.for([...secrets, 'Bearer', 'bearer:abc', jwt])('instead of %s, which may be a secret', async (given) => {
    const { headers } = await shared().rest.get('/v1/notes', { 'x-request-id': given })
    expect(headers['x-request-id']).toMatch(uuid)
    expect(shared().log.join('')).not.toContain(given)
  })

  test.for(['', ' ', 'x'.repeat(129), 'two words', 'a"b', 'a,b', 'a;b', '<b>', 'é', '{}'])(
    'instead of %j, which never reaches the log',
    async (given) => {
      const { headers } = await shared().rest.get('/v1/notes', { 'x-request-id': given })
      const id = headers['x-request-id']
      expect(id).toMatch(uuid)
      expect(linesOf(id)).toHaveLength(1)
      if (given.trim()) expect(shared().log.join('')).not.toContain(JSON.stringify(given).slice(1, -1))
    },
  )

  test('instead of a repeated one', async () => {
    const { url, authorization } = await listen(shared())
    const repeated = 'X-Request-Id: first-one\r\nX-Request-Id: second-one\r\n'
    const head = `GET /v1/notes HTTP/1.1\r\n${host}${authorization}${repeated}Connection: close\r\n\r\n`
    const [response] = await exchange(url, head)
    expect(response?.headers.get('x-request-id')).toMatch(uuid)
    await expect.poll(() => linesOf(response?.headers.get('x-request-id'))).toHaveLength(1)
    expect(shared().log.join('')).not.toMatch(/first-one|second-one/)
  })

  test('for a malformed chunk, with the same id in each log line', async () => {
    const { url, authorization } = await listen(shared())
    const head = `POST /v1/notes HTTP/1.1\r\n${host}${authorization}${json}Transfer-Encoding: chunked\r\n\r\n`
    const [response] = await exchange(url, `${head}zz\r\n`)
    const id = response?.headers.get('x-request-id')
    await expect
      .poll(() => linesOf(id).map(({ msg }) => msg))
      .toEqual(['the connection sent an invalid request', 'request'])
  })

  test('for bytes that are not HTTP after a request, whose id they do not get', async () => {
    const { url, authorization } = await listen(shared())
    const get = `GET /v1/notes HTTP/1.1\r\n${host}${authorization}X-Request-Id: before\r\n\r\n`
    const [first, second] = await exchange(url, `${get}nonsense\r\n\r\n`)
    expect(first?.headers.get('x-request-id')).toBe('before')
    expect([second?.status, second?.headers.get('x-request-id')]).toEqual([400, expect.stringMatching(uuid)])
  })
})
