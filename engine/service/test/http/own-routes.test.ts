import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { addNotes, apiKeyRecord, mintApiKey, shareTestApi, startTestApi } from '../../../test/notes/fixtures.ts'
import { dependencies, type Settings, settings } from '../../../test/notes/printer.ts'
import { service } from '../../../test/notes/service.ts'
import type { NotesStore } from '../../../test/notes/store.ts'
import { readMetric } from '../../../test/support/metrics.ts'
import { temporaryFolder } from '../../../test/support/temporary.ts'
import { startTestService } from '../../../test/support/test-api.ts'
import type { run } from '../../commands/program.ts'
import { callerOf } from '../../own-routes.ts'
import { createTrpc } from '../../procedures/trpc.ts'
import { defineService } from '../../service.ts'

const api = shareTestApi({
  async routes(app, store) {
    await service.routes?.(app, store, { printerFile: '' }, { print: async () => {} })
    app.post<{ Body: { priority: bigint } }>('/hooks/:source', ({ body }) => ({ given: body.priority }))
    app.get('/changes', async (request) => ({ caller: callerOf(request).name }))
    app.get<{ Querystring: { code?: string; statusCode?: string } }>('/fails', ({ query, url }) => {
      const { code, statusCode } = query
      throw Object.assign(new Error(`The secret reason of ${url}.`), {
        code,
        statusCode: statusCode && Number(statusCode),
      })
    })
  },
})

test('serves a download of the product', async () => {
  const { rest, store } = api()
  await addNotes(store, 2)
  const { status, headers, text } = await rest.get('/downloads/notes.txt')
  expect([status, headers['content-disposition'], text]).toEqual([200, 'attachment', 'note 1\nnote 2'])
})

test('a body that breaks the schema of a route is a 400 that names what is wrong', async () => {
  const { rest, store } = api()
  const sent = { body: 'Call Bob', priority: 1 }
  const { status, body } = await rest.post('/mails', sent)
  expect([status, body]).toEqual([200, { ...sent, id: expect.any(Number), state: 'open' }])
  expect(await rest.post('/mails', { body: '' })).toMatchObject({
    status: 400,
    body: { message: 'body: expected 1 to 255 characters; priority: required' },
  })
  expect(await rest.post('/mails', '[]')).toMatchObject({
    status: 400,
    body: { message: 'body: expected an object, got an array' },
  })
  expect(await store.notes.list({ limit: 100 })).toContainEqual(expect.objectContaining({ body: 'Call Bob' }))
})

test('a repeated request with the same Idempotency-Key has no second effect, and is marked', async () => {
  const { rest, store } = await startTestApi()
  const send = () => rest.post('/mails', { body: 'Call Cid', priority: 2 }, { 'idempotency-key': 'mail-1' })
  const [first, second] = [await send(), await send()]
  expect(second).toMatchObject({ status: 200, body: first.body, headers: { 'idempotency-replayed': 'true' } })
  expect(first.headers).not.toHaveProperty('idempotency-replayed')
  expect(await store.notes.list({ limit: 100 })).toHaveLength(1)
  const other = { body: 'Call Dan', priority: 2 }
  expect((await rest.post('/mails', other, { 'idempotency-key': 'mail-1' })).status).toBe(422)
  expect((await rest.post('/mails', other, { 'idempotency-key': '' })).status).toBe(400)
  expect((await rest.get('/metrics')).text).toContain('notes_idempotent_replays_total 1')
})

test('the history names the key of a change by a route', async () => {
  const { rest, store } = await startTestApi({
    routes: (app, { notes }) =>
      void app.post('/clear', (request) => notes.remove({ id: 1n }, callerOf(request)).then(String)),
  })
  await addNotes(store, 1)
  expect(await rest.post('/clear', {})).toMatchObject({ status: 200 })
  expect(await store.notes.history({ limit: 1 })).toMatchObject([{ keyName: 'test', kind: 'remove' }])
})

test('a route whose mutation lacks its caller does not compile, and one runs one mutation', async () => {
  const { rest, store } = await startTestApi({
    async routes(app, { notes }) {
      const note = { body: 'x', priority: 1n, state: 'open' } as const
      // @ts-expect-error: it lacks the caller.
      const withoutCaller = () => notes.create(note)
      app.post('/one', withoutCaller)
      app.post('/two', async (request) => {
        await notes.create(note, callerOf(request))
        return notes.create(note, callerOf(request))
      })
    },
  })
  expect((await rest.post('/two', {})).status).toBe(500)
  expect(await store.notes.list({ limit: 100 })).toHaveLength(1)
})

test('dependencies are made once, from the settings, for procedures and routes', async () => {
  const printerFile = join(temporaryFolder(), 'printed')
  let made = 0
  const printing = defineService({
    ...service,
    dependencies(settings: Settings, onClose) {
      made++
      return dependencies(settings, onClose)
    },
    routes: (app, _store, _settings, { print }) => void app.post('/print', () => print('Call Bob')),
  })
  const { rest, rpc } = await startTestService(printing, { settings: { printerFile } })
  const { id } = await rpc.notes.create.mutate({ body: 'Call Ann', priority: 1n })
  await rpc.notes.print.mutate({ noteId: id })
  expect((await rest.post('/print', {})).status).toBe(200)
  expect(readFileSync(printerFile, 'utf8')).toBe('Call Ann\nCall Bob\n')
  expect(made).toBe(1)
})

test('an outage of a dependency is a 503 that asks for a retry, and the log has its cause', async () => {
  const closed = (settings: Settings) => dependencies(settings, (close) => void close())
  const { rest, rpc, log } = await startTestService(
    defineService({
      ...service,
      dependencies: closed,
      routes: (app, _store, _settings, { print }) => void app.post('/print', () => print('Call Ann')),
    }),
  )
  const data = { code: 'unavailable', message: 'The printer does not print.', status: 503 }
  expect(await rest.post('/print', {})).toMatchObject({ status: 503, body: data, headers: { 'retry-after': '1' } })
  await rpc.notes.create.mutate({ body: 'Call Ann', priority: 1n })
  const call = { json: { noteId: '1' }, meta: { values: { noteId: ['bigint'] } } }
  const response = { status: 503, headers: { 'retry-after': '1' }, body: { error: { json: { data } } } }
  expect(await rest.post('/trpc/notes.print', call)).toMatchObject(response)
  const errors = log.map((line) => JSON.parse(line)).filter(({ level }) => level === 'error')
  expect(errors[0]).toMatchObject({ msg: data.message, err: { stack: expect.stringContaining('file closed') } })
  expect(log.join('')).not.toContain('defect')
})

test('a service that does not make what its procedures need does not compile', async () => {
  const start: typeof run = async () => {}
  const { product, store, router, transfer } = service
  await start(defineService({ product, store, router, transfer, settings, dependencies }))
  // @ts-expect-error: it makes no dependencies.
  await start(defineService({ product, store, router, transfer, settings }))
  // @ts-expect-error: it makes other ones.
  await start(defineService({ product, store, router, transfer, settings, dependencies: () => ({}) }))
  const withoutSettings = defineService({
    product,
    store,
    router,
    transfer,
    dependencies: () => ({ print: async () => {} }),
  })
  // @ts-expect-error: it reads no settings.
  await start(withoutSettings)
})

test('routes and resolvers get the settings of the product, as their schema reads them', async () => {
  const settings = z.object({ mailServer: z.hostname(), mailPort: z.string().default('25').transform(Number) })
  const { query, router } = createTrpc<NotesStore, z.infer<typeof settings>>()
  const mail = query().query(({ ctx: { settings } }) => `${settings.mailServer}:${settings.mailPort}`)
  const { product, store, transfer } = service
  const ofMail = defineService({
    product,
    store,
    transfer,
    settings,
    router: router({ mail }),
    routes: (app, _store, { mailPort }) => void app.get('/mail-port', () => ({ mailPort })),
  })
  const { rest, rpc } = await startTestService(ofMail, { settings: { mailServer: 'mail.example' } })
  expect(await rpc.mail.query()).toBe('mail.example:25')
  expect((await rest.get('/mail-port')).text).toBe('{"mailPort":25}')
})

test('a route gets and returns integers with all digits', async () => {
  const { status, text } = await api().rest.post('/hooks/bank', '{"priority":9223372036854775807}')
  expect([status, text]).toEqual([200, '{"given":9223372036854775807}'])
})

describe('refuses', () => {
  test.for([
    [401, 'without a key', '/hooks/bank', '{}', { authorization: '' }],
    [400, 'a body that is not JSON', '/hooks/bank', '{', {}],
    [415, 'a body of another type', '/hooks/bank', 'x', { 'content-type': 'text/plain' }],
    [404, 'another method', '/downloads/notes.txt', '{}', {}],
  ] as const)('with %i %s, with the Error body', async ([status, , url, body, headers]) => {
    const response = await api().rest.post(url, body, headers)
    expect(response).toMatchObject({ status, body: { code: expect.any(String), message: expect.any(String), status } })
  })

  test('a change with a key that may only read', async () => {
    const { rest, store } = api()
    const key = mintApiKey()
    await store.apiKeys.create({ ...apiKeyRecord(key, 'viewer'), access: 'read' })
    const authorization = `Bearer ${key}`
    expect((await rest.post('/hooks/bank', '{"priority":1}', { authorization })).status).toBe(403)
    expect((await rest.get('/downloads/notes.txt', { authorization })).status).toBe(200)
    expect((await rest.get('/changes', { authorization })).status).toBe(403)
    expect((await rest.get('/changes')).status).toBe(200)
  })
})

test.for([
  ['an error', ''],
  ['the status of another request', '?statusCode=404'],
  ['a lost connection to another service', '?code=ECONNRESET'],
  ['the code of a request that is too large', '?code=FST_ERR_CTP_BODY_TOO_LARGE'],
])('%s in a route is a 500 that does not show its message', async ([, query]) => {
  const { rest, log } = api()
  const { status, text } = await rest.get(`/fails${query}`)
  expect(status).toBe(500)
  expect(text).not.toContain('secret')
  expect(log.join('')).toContain(`The secret reason of /fails${query}.`)
})

test('metrics and the log know a route by its path, without what the caller put into it', async () => {
  const { rest, log } = api()
  await rest.post('/hooks/of-a-caller', '{"priority":1}')
  const { text } = await rest.get('/metrics')
  const labels = { adapter: 'http', operation: '/hooks/:source' }
  expect(readMetric(text, 'notes_request_duration_seconds_count', labels)).toBeGreaterThan(0)
  expect(text).not.toContain('of-a-caller')
  expect(log.join('')).toContain('"operation":"/hooks/:source"')
})

test('a route with a schema of Fastify is refused at the start', async () => {
  const schema = { body: { type: 'object', required: ['priority'] } }
  const { app } = await startTestApi({ routes: (own) => void own.post('/hooks', { schema }, () => 'ok') })
  await expect(app.ready()).rejects.toThrow('A route has a schema of Fastify.')
})
