import { hostname } from 'node:os'
import { Writable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { styleText } from 'node:util'
import { describe, expect, test } from 'vitest'
import { createLog, logTo } from '../../engine/service/telemetry/log.ts'
import { logLinesIn } from '../../engine/test/support/log-lines.ts'
import { host, openSocket } from '../../engine/test/support/raw-http.ts'
import type { RestRequest } from '../../engine/test/support/rest-client.ts'
import { listen, mintApiKey, shareTestApi, startTestApi } from '../support/petstore.ts'

const behindProxy = shareTestApi({ config: { trustProxy: ['127.0.0.1'] } })

test('each request is one line, with the procedure, the key and the size and duration of the response', async () => {
  const { rest, log, key, store } = await startTestApi()
  const { get } = store.pets
  store.pets.get = (id) => wait(100).then(() => get(id))
  const begin = performance.now()
  const { headers, text } = await rest.get('/v1/pets/1?secret=1')
  const elapsed = performance.now() - begin
  expect(logLinesIn(log.join(''))).toEqual([
    {
      level: 'info',
      time: expect.stringMatching(/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      pid: process.pid,
      host: hostname(),
      msg: 'request',
      adapter: 'rest',
      operation: 'pets.get',
      method: 'GET',
      route: '/v1/pets/:petId',
      status: 404,
      milliseconds: expect.any(Number),
      bytes: Buffer.byteLength(text),
      requestId: headers['x-request-id'],
      key: 'test',
      keyStart: key.slice(0, 10),
      ip: '127.0.0.1',
    },
  ])
  const { milliseconds } = JSON.parse(String(log[0]))
  expect(milliseconds).toBeGreaterThan(90)
  expect(milliseconds).toBeLessThan(elapsed)
})

test('a request whose client has gone before the response has a line without a status', async () => {
  const { url, authorization, store, log } = await listen(await startTestApi())
  const { promise: asked, resolve: begin } = Promise.withResolvers<void>()
  const { promise: gone, resolve: end } = Promise.withResolvers<undefined>()
  store.pets.get = () => {
    begin()
    return gone
  }
  const socket = await openSocket(url)
  socket.write(`GET /v1/pets/1 HTTP/1.1\r\n${host}${authorization}\r\n`)
  await asked
  socket.resetAndDestroy()
  const aborted = { operation: 'pets.get', aborted: true, bytes: 0, key: 'test', ip: '127.0.0.1' }
  const requests = () => logLinesIn(log.join('')).filter(({ msg }) => msg === 'request')
  await expect.poll(requests).toMatchObject([aborted])
  expect(log.join('')).not.toContain('"status"')
  end(undefined)
})

describe('the line of', () => {
  const shared = shareTestApi()
  const query = (input: unknown) => encodeURIComponent(JSON.stringify(input))
  const body = JSON.stringify({ name: 'Rex', categoryId: 1 })
  const streamed = { 'trpc-accept': 'application/jsonl' }
  const batch = Array(3_000).fill('x').join()
  const [rest, rpc, http] = ['rest', 'rpc', 'http'].map((adapter) => ({ adapter }))

  test.for<[string, RestRequest, object]>([
    ['a list', { url: '/v1/pets' }, { ...rest, operation: 'pets.list' }],
    ['a create', { method: 'POST', url: '/v1/pets', payload: body }, { ...rest, operation: 'pets.create' }],
    ['a head', { method: 'HEAD', url: '/v1/pets' }, { ...rest, operation: 'pets.list', bytes: 0 }],
    ['a query', { url: '/trpc/pets.list' }, { ...rpc, operation: 'pets.list' }],
    ['a streamed response', { url: '/trpc/pets.list?batch=1', headers: streamed }, { ...rpc, operation: 'pets.list' }],
    ['a mutation', { method: 'POST', url: '/trpc/pets.create', payload: '{}' }, { ...rpc, operation: 'pets.create' }],
    ['a batch of one', { url: '/trpc/pets.list?batch=1' }, { ...rpc, operation: 'pets.list' }],
    [
      'a batch',
      { url: `/trpc/pets.list,pets.get?batch=1&input=${query({ 1: {} })}` },
      { ...rpc, operation: 'batch', procedures: ['pets.list', 'pets.get'] },
    ],
    ['an unknown procedure', { url: '/trpc/secret' }, { ...rpc, operation: 'unknown' }],
    [
      'a batch that is too large',
      { url: `/trpc/${batch}?batch=1` },
      { ...rpc, operation: 'batch', procedures: Array(20).fill('unknown') },
    ],
    ['an unknown path of the interface', { url: '/v1/secret' }, { ...http, operation: 'unknown' }],
    ['another method', { method: 'DELETE', url: '/v1/pets' }, { ...http, operation: 'other_method' }],
    ['an unknown path', { url: '/secret' }, { ...http, operation: 'unknown' }],
    ['the OpenAPI document', { url: '/openapi.json' }, { ...http, operation: 'document' }],
  ])(
    '%s names the adapter, the operation and the procedures of a batch, and has the bytes of the body',
    async ([, request, expected]) => {
      const { app, key, log } = shared()
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...request.headers }
      const { payload } = await app.inject({ ...request, headers })
      const line = JSON.parse(String(log.at(-1)))
      expect({ procedures: undefined, ...line }).toMatchObject({
        bytes: Buffer.byteLength(payload),
        procedures: undefined,
        ...expected,
      })
      expect(JSON.stringify(line)).not.toContain('secret')
    },
  )
})

test.for([
  ['203.0.113.7', '203.0.113.7'],
  ['203.0.113.7:51234', '203.0.113.7'],
  ['2001:db8::1', '2001:db8::1'],
  ['[2001:db8::1]', '2001:db8::1'],
  ['[2001:db8::1]:443', '2001:db8::1'],
  ['fe80::1%eth0', 'fe80::1'],
  ['spoofed, 203.0.113.7', '203.0.113.7'],
  [undefined, '127.0.0.1'],
  ['unknown', '127.0.0.1'],
  ['_hidden', '127.0.0.1'],
  ['203.0.113.700', '127.0.0.1'],
  ['203.0.113.7:https', '127.0.0.1'],
  ['[203.0.113.7', '127.0.0.1'],
  [mintApiKey(), '127.0.0.1'],
  ['x'.repeat(50), '127.0.0.1'],
] as const)(
  'the address of a client behind a trusted proxy that reports %j is logged as %s',
  async ([reported, ip]) => {
    const { app, log } = behindProxy()
    await app.inject({ url: '/livez/none', headers: reported === undefined ? {} : { 'x-forwarded-for': reported } })
    expect(JSON.parse(String(log.at(-1)))).toMatchObject({ status: 404, ip })
  },
)

test('the logged address is that of the connection without a trusted proxy', async () => {
  const { app, log } = await startTestApi()
  await app.inject({ url: '/v1/pets', headers: { 'x-forwarded-for': '203.0.113.7' } })
  expect(JSON.parse(String(log[0]))).toMatchObject({ ip: '127.0.0.1' })
})

test('the code and the stacks of the causes of an error are logged, but none of its other properties', () => {
  const written: string[] = []
  const log = logTo({ write: (line) => void written.push(line) }, 'info')
  const cause = Object.assign(new Error('refused'), { input: 'postgres://u:secret@host/db' })
  const err = Object.assign(new Error('lost', { cause }), { code: '08006', detail: 'Key (name)=(secret)' })
  log.error({ err }, 'The database is away.')
  expect(logLinesIn(written.join(''))).toMatchObject([{ err: { type: 'Error', code: '08006', message: 'lost' } }])
  expect(written.join()).toContain('caused by: Error: refused')
  expect(written.join()).not.toContain('secret')
})

describe('LOG_FORMAT', () => {
  const output = (isTTY: boolean, isColored = false) => {
    const written: string[] = []
    const stream = Object.assign(new Writable(), { isTTY, hasColors: () => isColored })
    stream.write = (text: string) => written.push(text) > 0
    return { written, stream }
  }

  test.for([
    [undefined, false, 'json'],
    [undefined, true, 'pretty'],
    ['json', true, 'json'],
    ['pretty', false, 'pretty'],
  ] as const)('%s on a terminal (%s) writes %s, one line for each', async ([logFormat, isTTY, expected]) => {
    const { written, stream } = output(isTTY)
    const log = createLog({ logLevel: 'info', logFormat }, stream)
    log.info({ action: 'key.create' }, 'audit')
    log.flush()
    const pretty = /^\[20\d\d-\d\d-\d\dT[\d:.]+Z\] INFO: audit \{"action":"key.create"\}\n$/
    const json = /^\{"level":"info","time":"20\d\d-\d\d-\d\dT[\d:.]+Z",.*"action":"key.create","msg":"audit"\}\n$/
    expect(written).toEqual([expect.stringMatching(expected === 'json' ? json : pretty)])
  })

  test('a terminal with colors gets the level in color, and the stack of an error below its line', () => {
    const { written, stream } = output(true, true)
    const log = createLog({ logLevel: 'info', logFormat: undefined }, stream)
    const err = new Error('refused', { cause: new Error('away') })
    log.warn({ err, requestId: 'a' }, 'The database is away.')
    log.flush()
    const [line, stack = ''] = written.join('').split(/\n(.*)/s)
    expect(line).toContain(
      `] ${styleText('yellow', 'WARN', { validateStream: false })}: The database is away. {"requestId":"a"}`,
    )
    expect(stack).toMatch(/^ {4}Error: refused\n.+caused by: Error: away\n/s)
  })

  test('lines are written together after a few milliseconds, and at once with a warning', async () => {
    const { written, stream } = output(false)
    const log = createLog({ logLevel: 'info', logFormat: 'json' }, stream)
    for (const name of ['first', 'second']) log.info(name)
    expect(written).toEqual([])
    await expect.poll(() => written).toEqual([expect.stringMatching(/first.*\n.*second.*\n$/)])
    log.info('third')
    log.warn('fourth')
    expect(written[1]).toMatch(/third.*\n.*fourth.*\n$/)
  })
})

test('the log level silent writes nothing', async () => {
  const config = { logLevel: 'silent', logFormat: undefined } as const
  expect(createLog(config, process.stdout).isLevelEnabled('fatal')).toBe(false)
})
